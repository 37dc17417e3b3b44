/** Webhooks, their events and deliveries. */
import type {
  DueEvent,
  NewEvent,
  NewWebhook,
  Redelivery,
  WebhookAttempt,
  WebhookChange,
  WebhookDelivery,
  WebhookEvent,
  WebhookRow,
  WebhookRows,
  WebhookSettings,
  WebhookState,
} from "../../../domain/ports.ts";
import { type Database, numberOrNull } from "../../../sql/database.ts";
import type { SqlRow, SqlValue } from "../../../sql/database.ts";
import type { Session } from "../../../sql/database.ts";
import { DELIVERY_STATES } from "../../../sql/lists/counted-lists.ts";
import { deleteRows, type Fragment, sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import { countByValue } from "../../../sql/lists/list-counts.ts";
import { assign, insertSql, selectList } from "../../../sql/columns.ts";
import { nextId } from "./project-rows.ts";

/** `onAdded` is called within the transaction that adds an event. */
export function createWebhookRows(database: Database, session: Session, onAdded: () => void): WebhookRows {
  return {
    any: async (project) =>
      (await database.first("SELECT 1 FROM webhooks WHERE project_id = ? LIMIT 1", [project])) !== null,
    list: async (project) =>
      (
        await database.all(
          `${WEBHOOK} ${project === null ? "" : "WHERE w.project_id = ?"} ORDER BY w.project_id, w.id`,
          project === null ? [] : [project],
        )
      ).map(toWebhook),
    byId: async (project, id) => findWebhook(database, project, id),
    insert: async (project, webhook) => {
      const id = await insertWebhook(database, session, project, webhook);
      return (await findWebhook(database, project, id))!;
    },
    change: async (project, id, change) => update(database, project, id, assign(CHANGEABLE, change)),
    configure: async (project, id, settings) => update(database, project, id, assign(SETTINGS, toColumns(settings))),
    delete: async (project, id) =>
      (await database.run("DELETE FROM webhooks WHERE project_id = ? AND id = ?", [project, id])) > 0,
    add: async (project, event, webhooks) => {
      await addEvent(database, session, project, event, webhooks);
      onAdded();
    },
    due: async (webhook, limit) => listDue(database, session.now, webhook, limit),
    nextDueAt: async (project, id) => findDueAt(database, project, id, session.now),
    delivery: async (project, id, event) => {
      const sql = `SELECT state, attempts FROM webhook_deliveries ${ONE}`;
      return (await database.first(sql, [project, id, event])) as unknown as Awaited<
        ReturnType<WebhookRows["delivery"]>
      >;
    },
    settle: async (project, id, event, { state, attempts, dueAt }) => {
      const set = ["state = ?, attempts = ?, due_at = ?", state, attempts, dueAt] as const;
      await updateRows(database, "webhook_deliveries", set, [THIS_DELIVERY, project, id, event]);
    },
    log: async (project, id, event, { at, status, ms, text }) =>
      database.send(LOG, [project, id, event, at, status, Math.round(ms), text, project, id, event]),
    deliveries: async (project, id, filter) => listDeliveries(database, project, id, filter),
    redeliver: async (project, id, which, page) => redeliver(database, session.now, { project, id }, which, page),
    counts: async (project, id) => {
      const counted = (await countByValue(database, DELIVERY_STATES, project))
        .filter(({ values }) => values["webhook_id"] === String(id))
        .map(({ values, n }) => [values["state"], n]);
      return { waiting: 0, delivered: 0, failed: 0, ...(Object.fromEntries(counted) as object) };
    },
    oldestDueAt: async () => findOldestDueAt(database),
    prune: async (before, limit) => prune(database, before, limit),
  };
}

const THIS_DELIVERY = "project_id = ? AND webhook_id = ? AND event = ?";
const ONE = `WHERE ${THIS_DELIVERY}`;

const LOG = `INSERT INTO webhook_attempts (project_id, webhook_id, event, n, at, status, ms, text)
  SELECT ?, ?, ?, coalesce(max(n), 0) + 1, ?, ?, ?, ? FROM webhook_attempts ${ONE}`;

/** Columns that a webhook has for good. */
const FIXED = { id: "id", url: "url", format: "format", createdAt: "created_at" } as const;

/** Columns that its owner sets. */
const SETTINGS = {
  signatureHeader: "signature_header",
  allowPrivate: "allow_private",
  insecureHttp: "insecure_http",
  events: "events",
  scoreFrom: "score_from",
  scoreTo: "score_to",
} as const;

/** Columns that change as events are delivered, and when the secret is rotated. */
const CHANGEABLE: Readonly<Record<keyof WebhookChange, string>> = {
  secret: "secret",
  previousSecret: "previous_secret",
  previousUntil: "previous_until",
  disabledAt: "disabled_at",
  disabledReason: "disabled_reason",
  failingSince: "failing_since",
  strikes: "strikes",
  slowUntil: "slow_until",
  lastDeliveredAt: "last_delivered_at",
  missed: "missed",
};

const WEBHOOK = `SELECT w.project_id AS "projectId", p.name AS project, ${selectList({ ...FIXED, ...SETTINGS, ...CHANGEABLE }, "w")}
  FROM webhooks w JOIN projects p ON p.id = w.project_id`;

const INSERT = insertSql("webhooks", ["project_id", "secret", ...Object.values(FIXED), ...Object.values(SETTINGS)]);

async function findWebhook(database: Database, project: number, id: number): Promise<WebhookRow | null> {
  const row = await database.first(`${WEBHOOK} WHERE w.project_id = ? AND w.id = ?`, [project, id]);
  return row === null ? null : toWebhook(row);
}

function toWebhook(row: SqlRow): WebhookRow {
  const { projectId, project, allowPrivate, insecureHttp, events, scoreFrom, scoreTo, ...rest } = row;
  const hasScores = typeof scoreFrom === "number" && typeof scoreTo === "number";
  return {
    ...(rest as unknown as Omit<WebhookRow, "project" | "allowPrivate" | "insecureHttp" | "events" | "scores">),
    project: { id: Number(projectId), name: String(project) },
    allowPrivate: allowPrivate === 1,
    insecureHttp: insecureHttp === 1,
    events: JSON.parse(String(events)) as WebhookEvent[],
    scores: hasScores ? { from: scoreFrom, to: scoreTo } : null,
  };
}

function toColumns(settings: WebhookSettings): Record<keyof typeof SETTINGS, SqlValue> {
  const { signatureHeader, allowPrivate, insecureHttp, events, scores } = settings;
  return {
    signatureHeader,
    allowPrivate: Number(allowPrivate),
    insecureHttp: Number(insecureHttp),
    events: JSON.stringify(events),
    scoreFrom: scores?.from ?? null,
    scoreTo: scores?.to ?? null,
  };
}

function update(
  database: Database,
  project: number,
  id: number,
  { sets, values }: { readonly sets: string; readonly values: readonly SqlValue[] },
): void {
  database.send(`UPDATE webhooks SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]);
}

async function insertWebhook(
  database: Database,
  { now }: Session,
  project: number,
  webhook: NewWebhook,
): Promise<number> {
  const id = await nextId(database, project);
  const { url, secret, format } = webhook;
  database.send(INSERT, [project, secret, id, url, format, now, ...Object.values(toColumns(webhook))]);
  return id;
}

/** When the next event of a webhook is due after a moment; null for none. */
async function findDueAt(database: Database, project: SqlValue, id: SqlValue, after: number): Promise<number | null> {
  const row = await database.first(
    `SELECT min(due_at) AS at FROM webhook_deliveries
     WHERE project_id = ? AND webhook_id = ? AND due_at IS NOT NULL AND due_at > ?`,
    [project, id, after],
  );
  return numberOrNull(row?.at);
}

async function findOldestDueAt(database: Database): Promise<number | null> {
  const dues: number[] = [];
  const enabled = await database.all("SELECT project_id, id FROM webhooks WHERE disabled_at IS NULL");
  for (const { project_id: project = null, id = null } of enabled) {
    const dueAt = await findDueAt(database, project, id, 0);
    if (dueAt !== null) dues.push(dueAt);
  }
  return dues.length === 0 ? null : Math.min(...dues);
}

async function addEvent(
  database: Database,
  { now }: Session,
  project: number,
  { eventId, type, personId, json, slack }: NewEvent,
  webhooks: readonly number[],
): Promise<void> {
  const id = await nextId(database, project);
  database.send(
    `INSERT INTO webhook_events (project_id, id, event_id, type, person_id, created_at, json, slack)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    [project, id, eventId, type, personId, now, json, slack],
  );
  for (const webhook of webhooks) {
    const delivery = { project_id: project, webhook_id: webhook, event: id, state: "waiting", due_at: now };
    sendRow(database, "webhook_deliveries", delivery);
  }
}

async function listDue(
  database: Database,
  now: number,
  { project, id, format }: Pick<WebhookRow, "project" | "id" | "format">,
  limit: number,
): Promise<DueEvent[]> {
  return (await database.all(
    `SELECT d.event, e.event_id AS "eventId", e.person_id AS "personId", d.attempts, e.${format} AS body
     FROM webhook_deliveries d CROSS JOIN webhook_events e
     WHERE e.project_id = d.project_id AND e.id = d.event AND d.project_id = ? AND d.webhook_id = ? AND d.due_at IS NOT NULL AND d.due_at <= ?
     ORDER BY d.due_at, d.event LIMIT ?`,
    [project.id, id, now, limit],
  )) as unknown as DueEvent[];
}

async function listDeliveries(
  database: Database,
  project: number,
  id: number,
  { failed, before, limit }: Parameters<WebhookRows["deliveries"]>[2],
): Promise<WebhookDelivery[]> {
  const which = failed ? "AND d.state = 'failed'" : "";
  const rows = await database.all(
    `SELECT d.event, e.event_id AS "eventId", e.type, d.state, d.attempts, e.created_at AS "createdAt",
       d.due_at AS "dueAt"
     FROM webhook_deliveries d CROSS JOIN webhook_events e
     WHERE e.project_id = d.project_id AND e.id = d.event AND d.project_id = ? AND d.webhook_id = ? ${which} AND d.event < ? ORDER BY d.event DESC LIMIT ?`,
    [project, id, before ?? Number.MAX_SAFE_INTEGER, limit],
  );
  const deliveries: WebhookDelivery[] = [];
  for (const row of rows)
    deliveries.push({
      ...(row as unknown as Omit<WebhookDelivery, "log" | "state"> & { readonly state: WebhookState }),
      log: (await database.all(`SELECT n, at, status, ms, text FROM webhook_attempts ${ONE} ORDER BY n`, [
        project,
        id,
        row.event ?? null,
      ])) as unknown as WebhookAttempt[],
    });
  return deliveries;
}

async function redeliver(
  database: Database,
  now: number,
  { project, id }: { readonly project: number; readonly id: number },
  which: Redelivery,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const { clause, values } = redelivered(which);
  const events = (
    await database.all(
      `SELECT d.event FROM webhook_deliveries d WHERE d.project_id = ? AND d.webhook_id = ? AND d.event > ? AND ${clause}
       ORDER BY d.event LIMIT ?`,
      [project, id, after, ...values, limit],
    )
  ).map(({ event }) => Number(event));
  const set = ["state = 'waiting', attempts = 0, due_at = ?", now] as const;
  for (const event of events)
    await updateRows(database, "webhook_deliveries", set, [THIS_DELIVERY, project, id, event]);
  return events;
}

/** Events are numbered in the order of their times, so the first of a time tells all that follow. */
const FIRST_SINCE = `(SELECT id FROM webhook_events WHERE project_id = d.project_id AND created_at >= ?
  ORDER BY created_at, id LIMIT 1)`;
const NAMED = "(SELECT id FROM webhook_events WHERE project_id = d.project_id AND event_id = ?)";

function redelivered(which: Redelivery): { clause: string; values: SqlValue[] } {
  if (which.which === "failed") return { clause: "d.state = 'failed'", values: [] };
  return which.which === "since"
    ? { clause: `d.state <> 'waiting' AND d.event >= ${FIRST_SINCE}`, values: [which.since] }
    : { clause: `d.event = ${NAMED}`, values: [which.eventId] };
}

async function prune(database: Database, before: number, limit: number): Promise<number> {
  let pruned = 0;
  for (const { id } of await database.all("SELECT id FROM projects ORDER BY id")) {
    const project = Number(id);
    pruned += (await deleteRows(database, "webhook_events", project, oldEvents(project, before, limit))).length;
    pruned += await pruneRemoved(database, project, limit);
  }
  return pruned;
}

/** Those that came before a time, the oldest first. */
export function oldEvents(project: number, before: number, limit: number): Fragment {
  const ids = "SELECT id FROM webhook_events WHERE project_id = ? AND created_at < ? ORDER BY created_at, id LIMIT ?";
  return [`id IN (${ids})`, project, before, limit];
}

/** No webhook gets an id that another had, so deliveries without one belong to one that was removed. */
async function pruneRemoved(database: Database, project: number, limit: number): Promise<number> {
  const known = await database.all("SELECT id FROM webhooks WHERE project_id = ?", [project]);
  const left = new Set(
    (await countByValue(database, DELIVERY_STATES, project)).map(({ values }) => values["webhook_id"]),
  );
  for (const { id } of known) left.delete(String(id));
  let pruned = 0;
  for (const id of left) {
    const events = "SELECT event FROM webhook_deliveries WHERE project_id = ? AND webhook_id = ? LIMIT ?";
    const some = [`webhook_id = ? AND event IN (${events})`, Number(id), project, Number(id), limit] as const;
    pruned += (await deleteRows(database, "webhook_deliveries", project, some)).length;
  }
  return pruned;
}

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
import type { Database } from "../database.ts";
import type { SqlRow, SqlValue } from "../database.ts";
import type { Session } from "../database.ts";
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
    change: async (project, id, change) => changeWebhook(database, project, id, change),
    configure: async (project, id, settings) => {
      const assignments = SETTING_COLUMNS.map((column) => `${column} = ?`).join(", ");
      const sql = `UPDATE webhooks SET ${assignments} WHERE project_id = ? AND id = ?`;
      database.send(sql, [...settingValues(settings), project, id]);
    },
    delete: async (project, id) =>
      (await database.run("DELETE FROM webhooks WHERE project_id = ? AND id = ?", [project, id])) > 0,
    add: async (project, event, webhooks) => {
      await addEvent(database, session, project, event, webhooks);
      onAdded();
    },
    due: async (webhook, limit) => listDue(database, session.now, webhook, limit),
    nextDueAt: async (project, id) => {
      const row = await database.first(
        `SELECT min(due_at) AS at FROM webhook_deliveries
         WHERE project_id = ? AND webhook_id = ? AND due_at IS NOT NULL AND due_at > ?`,
        [project, id, session.now],
      );
      return toNumber(row?.at);
    },
    delivery: async (project, id, event) => {
      const sql = `SELECT state, attempts FROM webhook_deliveries ${ONE}`;
      return (await database.first(sql, [project, id, event])) as unknown as Awaited<
        ReturnType<WebhookRows["delivery"]>
      >;
    },
    settle: async (project, id, event, { state, attempts, dueAt }) => {
      const sql = `UPDATE webhook_deliveries SET state = ?, attempts = ?, due_at = ? ${ONE}`;
      database.send(sql, [state, attempts, dueAt, project, id, event]);
    },
    log: async (project, id, event, { at, status, ms, text }) => {
      database.send(
        `INSERT INTO webhook_attempts (project_id, webhook_id, event, n, at, status, ms, text)
         SELECT ?, ?, ?, coalesce(max(n), 0) + 1, ?, ?, ?, ? FROM webhook_attempts ${ONE}`,
        [project, id, event, at, status, Math.round(ms), text, project, id, event],
      );
    },
    deliveries: async (project, id, filter) => listDeliveries(database, project, id, filter),
    redeliver: async (project, id, which, page) => redeliver(database, session.now, { project, id }, which, page),
    counts: async (project, id) => {
      const sql = "SELECT state, n FROM webhook_counts WHERE project_id = ? AND webhook_id = ?";
      const counted = (await database.all(sql, [project, id])).map(({ state, n }) => [String(state), Number(n)]);
      return { waiting: 0, delivered: 0, failed: 0, ...(Object.fromEntries(counted) as object) };
    },
    oldestDueAt: async () => {
      const dues: number[] = [];
      const enabled = await database.all("SELECT project_id, id FROM webhooks WHERE disabled_at IS NULL");
      for (const { project_id: project = null, id = null } of enabled) {
        const row = await database.first(
          `SELECT min(due_at) AS at FROM webhook_deliveries
           WHERE project_id = ? AND webhook_id = ? AND due_at IS NOT NULL`,
          [project, id],
        );
        if (typeof row?.at === "number") dues.push(row.at);
      }
      return dues.length === 0 ? null : Math.min(...dues);
    },
    prune: async (before, limit) => prune(database, before, limit),
  };
}

const ONE = "WHERE project_id = ? AND webhook_id = ? AND event = ?";

const WEBHOOK = `SELECT w.project_id AS "projectId", p.name AS project, w.id, w.url, w.secret,
  w.previous_secret AS "previousSecret", w.previous_until AS "previousUntil", w.signature_header AS "signatureHeader",
  w.allow_private AS "allowPrivate", w.insecure_http AS "insecureHttp", w.events, w.score_from AS "scoreFrom",
  w.score_to AS "scoreTo", w.format, w.created_at AS "createdAt", w.disabled_at AS "disabledAt",
  w.disabled_reason AS "disabledReason", w.failing_since AS "failingSince", w.strikes, w.slow_until AS "slowUntil",
  w.last_delivered_at AS "lastDeliveredAt", w.missed
  FROM webhooks w JOIN projects p ON p.id = w.project_id`;

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

const SETTING_COLUMNS = [
  "signature_header",
  "allow_private",
  "insecure_http",
  "events",
  "score_from",
  "score_to",
] as const;

function settingValues(settings: WebhookSettings): SqlValue[] {
  const { signatureHeader, allowPrivate, insecureHttp, events, scores } = settings;
  return [
    signatureHeader,
    Number(allowPrivate),
    Number(insecureHttp),
    JSON.stringify(events),
    scores?.from ?? null,
    scores?.to ?? null,
  ];
}

async function insertWebhook(
  database: Database,
  { now }: Session,
  project: number,
  webhook: NewWebhook,
): Promise<number> {
  const id = await nextId(database, project);
  database.send(
    `INSERT INTO webhooks (project_id, id, url, secret, format, created_at, ${SETTING_COLUMNS.join(", ")})
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [project, id, webhook.url, webhook.secret, webhook.format, now, ...settingValues(webhook)],
  );
  return id;
}

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

function changeWebhook(database: Database, project: number, id: number, change: WebhookChange): void {
  const entries = Object.entries(change) as [keyof WebhookChange, SqlValue][];
  const columns = entries.map(([name]) => `${CHANGEABLE[name]} = ?`).join(", ");
  database.send(`UPDATE webhooks SET ${columns} WHERE project_id = ? AND id = ?`, [
    ...entries.map(([, value]) => value),
    project,
    id,
  ]);
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
  for (const webhook of webhooks)
    database.send(
      "INSERT INTO webhook_deliveries (project_id, webhook_id, event, state, due_at) VALUES (?, ?, ?, 'waiting', ?)",
      [project, webhook, id, now],
    );
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
  for (const event of events)
    database.send(`UPDATE webhook_deliveries SET state = 'waiting', attempts = 0, due_at = ? ${ONE}`, [
      now,
      project,
      id,
      event,
    ]);
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
  for (const { id = null } of await database.all("SELECT id FROM projects ORDER BY id"))
    pruned += await database.run(
      `DELETE FROM webhook_events WHERE project_id = ? AND id IN (
         SELECT id FROM webhook_events WHERE project_id = ? AND created_at < ? ORDER BY created_at, id LIMIT ?)`,
      [id, id, before, limit],
    );
  // No webhook gets an id that another had, so these belong to one that was removed.
  const orphans = await database.all(
    `SELECT project_id, webhook_id FROM webhook_counts c WHERE n > 0 AND NOT EXISTS (
       SELECT 1 FROM webhooks w WHERE w.project_id = c.project_id AND w.id = c.webhook_id)`,
  );
  for (const { project_id: project = null, webhook_id: id = null } of orphans)
    pruned += await pruneRemoved(database, project, id, limit);
  return pruned;
}

async function pruneRemoved(database: Database, project: SqlValue, id: SqlValue, limit: number): Promise<number> {
  return database.run(
    `DELETE FROM webhook_deliveries WHERE project_id = ? AND webhook_id = ? AND event IN (
       SELECT event FROM webhook_deliveries WHERE project_id = ? AND webhook_id = ? LIMIT ?)`,
    [project, id, project, id, limit],
  );
}

function toNumber(value: SqlValue | undefined): number | null {
  return value === null || value === undefined ? null : Number(value);
}

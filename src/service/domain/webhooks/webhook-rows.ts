import type {
  WebhookEvent,
  NewWebhook,
  WebhookSettings,
  WebhookRow,
  WebhookChange,
  NewEvent,
  WebhookState,
  DueEvent,
  WebhookAttempt,
  WebhookDelivery,
  Redelivery,
} from "./webhook.ts";
import { type Database, numberOrNull, type SqlRow, type SqlValue, type Session } from "../../sql/database.ts";
import { DELIVERY_STATES } from "../../sql/lists/counted-lists.ts";
import { deleteRows, type Fragment, sendRow, updateRows } from "../../sql/lists/counted-rows.ts";
import { countByValue } from "../../sql/lists/list-counts.ts";
import { assign, insertSql, selectList } from "../../sql/columns.ts";
import { nextId } from "../projects/project-rows.ts";

export class WebhookRows {
  readonly #database: Database;
  readonly #session: Session;
  readonly #onAdded: () => void;

  constructor(database: Database, session: Session, onAdded: () => void) {
    this.#database = database;
    this.#session = session;
    this.#onAdded = onAdded;
  }

  async any(project: number): Promise<boolean> {
    return (await this.#database.first("SELECT 1 FROM webhooks WHERE project_id = ? LIMIT 1", [project])) !== null;
  }

  async list(project: number | null): Promise<readonly WebhookRow[]> {
    return (
      await this.#database.all(
        `${WEBHOOK} ${project === null ? "" : "WHERE w.project_id = ?"} ORDER BY w.project_id, w.id`,
        project === null ? [] : [project],
      )
    ).map(toWebhook);
  }

  async byId(project: number, id: number): Promise<WebhookRow | null> {
    return findWebhook(this.#database, project, id);
  }

  async insert(project: number, webhook: NewWebhook): Promise<WebhookRow> {
    const id = await insertWebhook(this.#database, this.#session, project, webhook);
    return (await findWebhook(this.#database, project, id))!;
  }

  async change(project: number, id: number, change: WebhookChange): Promise<void> {
    return update(this.#database, project, id, assign(CHANGEABLE, change));
  }

  async configure(project: number, id: number, settings: WebhookSettings): Promise<void> {
    return update(this.#database, project, id, assign(SETTINGS, toColumns(settings)));
  }

  /** Returns whether it existed; `prune` deletes its deliveries. */
  async delete(project: number, id: number): Promise<boolean> {
    return (await this.#database.run("DELETE FROM webhooks WHERE project_id = ? AND id = ?", [project, id])) > 0;
  }

  async add(project: number, event: NewEvent, webhooks: readonly number[]): Promise<void> {
    await addEvent(this.#database, this.#session, project, event, webhooks);
    this.#onAdded();
  }

  async due(
    { project, id, format }: Pick<WebhookRow, "project" | "id" | "format">,
    limit: number,
  ): Promise<readonly DueEvent[]> {
    return (await this.#database.all(
      `SELECT d.event, e.event_id AS "eventId", e.person_id AS "personId", d.attempts, e.${format} AS body
     FROM webhook_deliveries d CROSS JOIN webhook_events e
     WHERE e.project_id = d.project_id AND e.id = d.event AND d.project_id = ? AND d.webhook_id = ? AND d.due_at IS NOT NULL AND d.due_at <= ?
     ORDER BY d.due_at, d.event LIMIT ?`,
      [project.id, id, this.#session.now, limit],
    )) as unknown as DueEvent[];
  }

  async nextDueAt(project: number, id: number): Promise<number | null> {
    return findDueAt(this.#database, project, id, this.#session.now);
  }

  async delivery(
    project: number,
    id: number,
    event: number,
  ): Promise<Pick<WebhookDelivery, "state" | "attempts"> | null> {
    const sql = `SELECT state, attempts FROM webhook_deliveries ${ONE}`;
    return (await this.#database.first(sql, [project, id, event])) as unknown as Awaited<
      ReturnType<WebhookRows["delivery"]>
    >;
  }

  async settle(
    project: number,
    id: number,
    event: number,
    {
      state,
      attempts,
      dueAt,
    }: { readonly state: WebhookState; readonly attempts: number; readonly dueAt: number | null },
  ): Promise<void> {
    const set = ["state = ?, attempts = ?, due_at = ?", state, attempts, dueAt] as const;
    await updateRows(this.#database, "webhook_deliveries", set, [THIS_DELIVERY, project, id, event]);
  }

  async log(
    project: number,
    id: number,
    event: number,
    { at, status, ms, text }: Omit<WebhookAttempt, "n">,
  ): Promise<void> {
    this.#database.send(LOG, [project, id, event, at, status, Math.round(ms), text, project, id, event]);
  }

  async deliveries(
    project: number,
    id: number,
    { failed, before, limit }: { readonly failed: boolean; readonly before: number | null; readonly limit: number },
  ): Promise<readonly WebhookDelivery[]> {
    const which = failed ? "AND d.state = 'failed'" : "";
    const rows = await this.#database.all(
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
        log: (await this.#database.all(`SELECT n, at, status, ms, text FROM webhook_attempts ${ONE} ORDER BY n`, [
          project,
          id,
          row.event ?? null,
        ])) as unknown as WebhookAttempt[],
      });
    return deliveries;
  }

  /**
   * Makes up to `limit` deliveries after the event `after` due again, as if never tried, and returns their events.
   * Pending ones aren't changed.
   */
  async redeliver(
    project: number,
    id: number,
    which: Redelivery,
    page: { readonly after: number; readonly limit: number },
  ): Promise<readonly number[]> {
    return redeliver(this.#database, this.#session.now, { project, id }, which, page);
  }

  /** The number of deliveries in each state, maintained as they change. */
  async counts(project: number, id: number): Promise<Readonly<Record<WebhookState, number>>> {
    const counted = (await countByValue(this.#database, DELIVERY_STATES, project))
      .filter(({ values }) => values["webhook_id"] === String(id))
      .map(({ values, n }) => [values["state"], n]);
    return { waiting: 0, delivered: 0, failed: 0, ...(Object.fromEntries(counted) as object) };
  }

  async oldestDueAt(): Promise<number | null> {
    const dues: number[] = [];
    const enabled = await this.#database.all("SELECT project_id, id FROM webhooks WHERE disabled_at IS NULL");
    for (const { project_id: project = null, id = null } of enabled) {
      const dueAt = await findDueAt(this.#database, project, id, 0);
      if (dueAt !== null) dues.push(dueAt);
    }
    return dues.length === 0 ? null : Math.min(...dues);
  }

  /** Deletes events before `before`, and deliveries whose endpoint is gone. Returns their number. */
  async prune(project: number, before: number, limit: number): Promise<number> {
    const old = await deleteRows(this.#database, "webhook_events", project, oldEvents(project, before, limit));
    return old.length + (await pruneRemoved(this.#database, project, limit));
  }
}

const THIS_DELIVERY = "project_id = ? AND webhook_id = ? AND event = ?";
const ONE = `WHERE ${THIS_DELIVERY}`;

const LOG = `INSERT INTO webhook_attempts (project_id, webhook_id, event, n, at, status, ms, text)
  SELECT ?, ?, ?, coalesce(max(n), 0) + 1, ?, ?, ?, ? FROM webhook_attempts ${ONE}`;

const FIXED = { id: "id", url: "url", format: "format", createdAt: "created_at" } as const;

const SETTINGS = {
  signatureHeader: "signature_header",
  allowPrivate: "allow_private",
  insecureHttp: "insecure_http",
  events: "events",
  scoreFrom: "score_from",
  scoreTo: "score_to",
} as const;

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

async function findDueAt(database: Database, project: SqlValue, id: SqlValue, after: number): Promise<number | null> {
  const row = await database.first(
    `SELECT min(due_at) AS at FROM webhook_deliveries
     WHERE project_id = ? AND webhook_id = ? AND due_at IS NOT NULL AND due_at > ?`,
    [project, id, after],
  );
  return numberOrNull(row?.at);
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

/** Event numbers rise with time, so the first one since a time includes all later ones. */
const FIRST_SINCE = `(SELECT id FROM webhook_events WHERE project_id = d.project_id AND created_at >= ?
  ORDER BY created_at, id LIMIT 1)`;
const NAMED = "(SELECT id FROM webhook_events WHERE project_id = d.project_id AND event_id = ?)";

function redelivered(which: Redelivery): { clause: string; values: SqlValue[] } {
  if (which.which === "failed") return { clause: "d.state = 'failed'", values: [] };
  return which.which === "since"
    ? { clause: `d.state <> 'waiting' AND d.event >= ${FIRST_SINCE}`, values: [which.since] }
    : { clause: `d.event = ${NAMED}`, values: [which.eventId] };
}

export function oldEvents(project: number, before: number, limit: number): Fragment {
  const ids = "SELECT id FROM webhook_events WHERE project_id = ? AND created_at < ? ORDER BY created_at, id LIMIT ?";
  return [`id IN (${ids})`, project, before, limit];
}

/** Webhook ids aren't reused, so deliveries without a webhook belong to a removed one. */
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

import type {
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
import { assign, insertSql, readRow, selectList } from "../../sql/columns.ts";
import { Rows } from "../../sql/rows.ts";

export class WebhookRows extends Rows {
  readonly #onAdded: () => void;

  constructor(database: Database, session: Session, onAdded: () => void) {
    super(database, session);
    this.#onAdded = onAdded;
  }

  async any(project: number): Promise<boolean> {
    return (await this.database.first("SELECT 1 FROM webhooks WHERE project_id = ? LIMIT 1", [project])) !== null;
  }

  /** Null lists the webhooks of all projects. */
  async list(project: number | null): Promise<readonly WebhookRow[]> {
    const [where, values] = project === null ? ["", []] : ["WHERE w.project_id = ? ", [project]];
    return (await this.database.all(`${WEBHOOK} ${where}ORDER BY w.project_id, w.id`, values)).map(toWebhook);
  }

  async byId(project: number, id: number): Promise<WebhookRow | null> {
    const row = await this.database.first(`${WEBHOOK} WHERE w.project_id = ? AND w.id = ?`, [project, id]);
    return row === null ? null : toWebhook(row);
  }

  async insert(project: number, webhook: NewWebhook): Promise<WebhookRow> {
    const id = await this.nextId(project);
    const { url, secret, format } = webhook;
    const settings = Object.values(toColumns(webhook));
    this.database.send(INSERT, [project, secret, id, url, format, this.session.now, ...settings]);
    return (await this.byId(project, id))!;
  }

  async change(project: number, id: number, change: WebhookChange): Promise<void> {
    const { sets, values } = assign(CHANGEABLE, change);
    this.database.send(`UPDATE webhooks SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]);
  }

  async configure(project: number, id: number, settings: WebhookSettings): Promise<void> {
    const { sets, values } = assign(SETTINGS, toColumns(settings));
    this.database.send(`UPDATE webhooks SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]);
  }

  /** `prune` deletes the webhook's deliveries later. */
  async delete(project: number, id: number): Promise<boolean> {
    return (await this.database.run("DELETE FROM webhooks WHERE project_id = ? AND id = ?", [project, id])) > 0;
  }

  async add(project: number, event: NewEvent, webhooks: readonly number[]): Promise<void> {
    const { eventId, type, personId, json, slack } = event;
    const { now } = this.session;
    const id = await this.nextId(project);
    this.database.send(
      `INSERT INTO webhook_events (project_id, id, event_id, type, person_id, created_at, json, slack)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
      [project, id, eventId, type, personId, now, json, slack],
    );
    for (const webhook of webhooks) {
      const delivery = { project_id: project, webhook_id: webhook, event: id, state: "waiting", due_at: now };
      sendRow(this.database, "webhook_deliveries", delivery);
    }
    this.#onAdded();
  }

  async due(
    { project, id, format }: Pick<WebhookRow, "project" | "id" | "format">,
    limit: number,
  ): Promise<readonly DueEvent[]> {
    return (await this.database.all(
      `SELECT d.event, e.event_id AS "eventId", e.person_id AS "personId", d.attempts, e.${format} AS body
     FROM webhook_deliveries d CROSS JOIN webhook_events e
     WHERE e.project_id = d.project_id AND e.id = d.event AND d.project_id = ? AND d.webhook_id = ? AND d.due_at IS NOT NULL AND d.due_at <= ?
     ORDER BY d.due_at, d.event LIMIT ?`,
      [project.id, id, this.session.now, limit],
    )) as unknown as DueEvent[];
  }

  async nextDueAt(project: number, id: number): Promise<number | null> {
    return this.#dueAfter(project, id, this.session.now);
  }

  async #dueAfter(project: SqlValue, id: SqlValue, after: number): Promise<number | null> {
    const sql = `SELECT min(due_at) AS at FROM webhook_deliveries
      WHERE project_id = ? AND webhook_id = ? AND due_at IS NOT NULL AND due_at > ?`;
    return numberOrNull((await this.database.first(sql, [project, id, after]))?.at);
  }

  async delivery(project: number, id: number, event: number): Promise<Settled | null> {
    const sql = `SELECT state, attempts FROM webhook_deliveries ${ONE}`;
    return (await this.database.first(sql, [project, id, event])) as Settled | null;
  }

  async settle(
    project: number,
    id: number,
    event: number,
    { state, attempts, dueAt }: Settled & { readonly dueAt: number | null },
  ): Promise<void> {
    const set = ["state = ?, attempts = ?, due_at = ?", state, attempts, dueAt] as const;
    await updateRows(this.database, "webhook_deliveries", set, [THIS_DELIVERY, project, id, event]);
  }

  async log(
    project: number,
    id: number,
    event: number,
    { at, status, ms, text }: Omit<WebhookAttempt, "n">,
  ): Promise<void> {
    this.database.send(LOG, [project, id, event, at, status, Math.round(ms), text, project, id, event]);
  }

  async deliveries(
    project: number,
    id: number,
    { failed, before, limit }: { readonly failed: boolean; readonly before: number | null; readonly limit: number },
  ): Promise<readonly WebhookDelivery[]> {
    const which = failed ? "AND d.state = 'failed'" : "";
    const rows = await this.database.all(
      `SELECT d.event, e.event_id AS "eventId", e.type, d.state, d.attempts, e.created_at AS "createdAt",
       d.due_at AS "dueAt"
     FROM webhook_deliveries d CROSS JOIN webhook_events e
     WHERE e.project_id = d.project_id AND e.id = d.event AND d.project_id = ? AND d.webhook_id = ? ${which} AND d.event < ? ORDER BY d.event DESC LIMIT ?`,
      [project, id, before ?? Number.MAX_SAFE_INTEGER, limit],
    );
    const deliveries: WebhookDelivery[] = [];
    for (const row of rows) {
      const log = await this.database.all(ATTEMPTS, [project, id, row.event ?? null]);
      deliveries.push({ ...row, log } as unknown as WebhookDelivery);
    }
    return deliveries;
  }

  /** Makes deliveries due again, as if they had never been tried. Pending ones aren't changed. Returns their events. */
  async redeliver(
    project: number,
    id: number,
    which: Redelivery,
    { after, limit }: { readonly after: number; readonly limit: number },
  ): Promise<readonly number[]> {
    const { clause, values } = redelivered(which);
    const found = await this.database.all(
      `SELECT d.event FROM webhook_deliveries d WHERE d.project_id = ? AND d.webhook_id = ? AND d.event > ? AND ${clause}
       ORDER BY d.event LIMIT ?`,
      [project, id, after, ...values, limit],
    );
    const set = ["state = 'waiting', attempts = 0, due_at = ?", this.session.now] as const;
    const events = found.map(({ event }) => Number(event));
    for (const event of events)
      await updateRows(this.database, "webhook_deliveries", set, [THIS_DELIVERY, project, id, event]);
    return events;
  }

  async counts(project: number, id: number): Promise<Readonly<Record<WebhookState, number>>> {
    const counted = (await countByValue(this.database, DELIVERY_STATES, project))
      .filter(({ values }) => values["webhook_id"] === String(id))
      .map(({ values, n }) => [values["state"], n]);
    return { waiting: 0, delivered: 0, failed: 0, ...(Object.fromEntries(counted) as object) };
  }

  async oldestDueAt(): Promise<number | null> {
    const dues: number[] = [];
    const enabled = await this.database.all("SELECT project_id, id FROM webhooks WHERE disabled_at IS NULL");
    for (const { project_id: project = null, id = null } of enabled) {
      const dueAt = await this.#dueAfter(project, id, 0);
      if (dueAt !== null) dues.push(dueAt);
    }
    return dues.length === 0 ? null : Math.min(...dues);
  }

  /** Also deletes deliveries of removed webhooks. Returns how many rows. */
  async prune(project: number, before: number, limit: number): Promise<number> {
    const old = await deleteRows(this.database, "webhook_events", project, oldEvents(project, before, limit));
    return old.length + (await this.#pruneRemoved(project, limit));
  }

  /** Webhook ids aren't reused, so a delivery without a webhook belongs to a removed one. */
  async #pruneRemoved(project: number, limit: number): Promise<number> {
    const counted = await countByValue(this.database, DELIVERY_STATES, project);
    const left = new Set(counted.map(({ values }) => values["webhook_id"]));
    for (const { id } of await this.database.all("SELECT id FROM webhooks WHERE project_id = ?", [project]))
      left.delete(String(id));
    let pruned = 0;
    for (const id of left) {
      const events = "SELECT event FROM webhook_deliveries WHERE project_id = ? AND webhook_id = ? LIMIT ?";
      const some = [`webhook_id = ? AND event IN (${events})`, Number(id), project, Number(id), limit] as const;
      pruned += (await deleteRows(this.database, "webhook_deliveries", project, some)).length;
    }
    return pruned;
  }
}

type Settled = Pick<WebhookDelivery, "state" | "attempts">;

const THIS_DELIVERY = "project_id = ? AND webhook_id = ? AND event = ?";
const ONE = `WHERE ${THIS_DELIVERY}`;

const LOG = `INSERT INTO webhook_attempts (project_id, webhook_id, event, n, at, status, ms, text)
  SELECT ?, ?, ?, coalesce(max(n), 0) + 1, ?, ?, ?, ? FROM webhook_attempts ${ONE}`;

const ATTEMPTS = `SELECT n, at, status, ms, text FROM webhook_attempts ${ONE} ORDER BY n`;

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

const WEBHOOK = `SELECT w.project_id AS "project.id", p.name AS "project.name", ${selectList({ ...FIXED, ...SETTINGS, ...CHANGEABLE }, "w")}
  FROM webhooks w JOIN projects p ON p.id = w.project_id`;

const INSERT = insertSql("webhooks", ["project_id", "secret", ...Object.values(FIXED), ...Object.values(SETTINGS)]);

function toWebhook({ scoreFrom: from, scoreTo: to, ...row }: SqlRow): WebhookRow {
  const scores = typeof from === "number" && typeof to === "number" ? { from, to } : null;
  return { ...readRow<WebhookRow>(row, { json: ["events"], flags: ["allowPrivate", "insecureHttp"] }), scores };
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

/** Event ids ascend with time, so all events since a time follow the first one. */
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

import { Rows } from "../../../sql/rows.ts";
import { emailKey } from "../../../../contract/text/email.ts";
import type { SqlRow } from "../../../sql/database.ts";
import { assign, readRow, selectList } from "../../../sql/columns.ts";
import { deleteRows, sendRow, updateRows } from "../../../sql/lists/counted-rows.ts";
import type { Project } from "../../inputs.ts";
import type { ClaimKey, DeliveryState, DigestSchedule } from "../queue-rows.ts";
import { claimKey, THIS_CLAIM, WAITING_AGAIN } from "./claims.ts";

/** State of the newest week. `unknown` weeks were transmitted without a reply, and aren't resent. */
type DigestState = Exclude<DeliveryState, "cancelled">;

export interface DigestRow extends DigestSchedule {
  readonly project: Project;
  readonly id: number;
  /** An address, or the URL of a Slack incoming webhook. */
  readonly email: string;
  /** Allows private and loopback addresses for a Slack URL. */
  readonly allowPrivate: boolean;
  readonly token: string;
  readonly createdAt: number;
  readonly unsubscribedAt: number | null;
  readonly state: DigestState;
  /** When the next digest is due; null while one is in flight, and after a bounce. */
  readonly dueAt: number | null;
  readonly sentAt: number | null;
  readonly attempts: number;
  /** The last reply or error for the week that `state` describes, or null. */
  readonly reason: string | null;
  readonly claimer: string | null;
}

type NewDigest = DigestSchedule & Pick<DigestRow, "email" | "token" | "allowPrivate">;
export type DigestChange = Partial<
  Pick<DigestRow, "weekday" | "minute" | "zone" | "unsubscribedAt"> & { readonly allowPrivate: 0 | 1 }
>;

const COLUMNS: Readonly<Record<keyof DigestChange, string>> = {
  weekday: "weekday",
  minute: "minute",
  zone: "zone",
  unsubscribedAt: "unsubscribed_at",
  allowPrivate: "allow_private",
};

const WEEKS = "messages m WHERE m.project_id = d.project_id AND m.digest_id = d.id";

/** While the newest week `n` is pending, `state` is that of the previous week `b`, unless that one bounced. */
const DIGEST = `SELECT p.id AS "project.id", p.name AS "project.name", d.id, d.email, d.token,
  d.created_at AS "createdAt", ${selectList(COLUMNS, "d")},
  CASE WHEN n.state = 'scheduled' THEN coalesce(b.state, n.state) ELSE coalesce(n.state, 'scheduled') END AS state,
  CASE WHEN n.state = 'scheduled' AND b.id IS NOT NULL THEN b.reason ELSE n.reason END AS reason,
  CASE WHEN n.claimer IS NULL THEN n.due_at END AS "dueAt", coalesce(n.attempts, 0) AS attempts, n.claimer, (SELECT max(m.sent_at) FROM ${WEEKS}) AS "sentAt"
  FROM digests d JOIN projects p ON p.id = d.project_id
  LEFT JOIN messages n ON n.project_id = d.project_id AND n.id = (SELECT max(m.id) FROM ${WEEKS})
  LEFT JOIN messages b ON b.project_id = d.project_id AND b.id = (SELECT max(m.id) FROM ${WEEKS} AND m.id < n.id) AND b.state <> 'bounced'`;

export class DigestRows extends Rows {
  async insert(project: number, { email, token, weekday, minute, zone, allowPrivate }: NewDigest): Promise<number> {
    const id = await this.nextId(project);
    this.database.send(
      `INSERT INTO digests (project_id, id, email, email_key, token, weekday, minute, zone, created_at, allow_private)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      [project, id, email, emailKey(email), token, weekday, minute, zone, this.session.now, Number(allowPrivate)],
    );
    return id;
  }

  async list(project: number): Promise<readonly DigestRow[]> {
    return (await this.database.all(`${DIGEST} WHERE d.project_id = ? ORDER BY d.id`, [project])).map(toDigest);
  }

  async byId(project: number, id: number): Promise<DigestRow | null> {
    return this.#find("d.project_id = ? AND d.id = ?", project, id);
  }

  async byToken(token: string): Promise<DigestRow | null> {
    return this.#find("d.token = ?", token);
  }

  async change(project: number, id: number, change: DigestChange): Promise<void> {
    const { sets, values } = assign(COLUMNS, change);
    this.database.send(`UPDATE digests SET ${sets} WHERE project_id = ? AND id = ?`, [...values, project, id]);
  }

  /** Also deletes the digest's weeks, and records its messages as erased. */
  async delete(project: number, id: number): Promise<void> {
    const digest = await this.byId(project, id);
    if (digest !== null) await this.eraseMails(project, digest);
    await deleteRows(this.database, "digests", project, ["id = ?", id]);
  }

  async addWeek(project: number, id: number, week: { readonly dueAt: number; readonly before: number }): Promise<void> {
    const { dueAt, before } = week;
    await deleteRows(this.database, "messages", project, ["digest_id = ? AND created_at < ?", id, before]);
    sendRow(this.database, "messages", {
      project_id: project,
      id: await this.nextId(project),
      channel: "digest",
      digest_id: id,
      state: "scheduled",
      created_at: this.session.now,
      scheduled_at: dueAt,
      due_at: dueAt,
    });
  }

  async dropWeek(project: number, id: number): Promise<void> {
    const waiting = "digest_id = ? AND claimer IS NULL AND state IN ('scheduled', 'retrying', 'held')";
    await deleteRows(this.database, "messages", project, [waiting, id]);
  }

  async setWeek(claim: ClaimKey, at: number): Promise<void> {
    this.database.send(`UPDATE messages SET scheduled_at = ? WHERE ${THIS_CLAIM}`, [at, ...claimKey(claim)]);
  }

  /** Makes claimed digests due at `dueAt`, unless they are being transmitted. */
  async takeBack(project: number, dueAt: number): Promise<void> {
    const set = [`state = ${WAITING_AGAIN}, claimer = NULL, due_at = ?`, dueAt] as const;
    const claimed = "project_id = ? AND channel = 'digest' AND state = 'claimed'";
    await updateRows(this.database, "messages", set, [claimed, project]);
  }

  /** The digest's messages may be in an outbox: see `QueueRows.listErased`. */
  async eraseMails(project: number, { id, token }: Pick<DigestRow, "id" | "token">): Promise<void> {
    this.database.send(
      `INSERT INTO erased_surveys (token, project_id, request_id, channel) VALUES (?, ?, ?, 'email')
       ON CONFLICT DO NOTHING`,
      [token, project, id],
    );
  }

  async #find(where: string, ...values: (string | number)[]): Promise<DigestRow | null> {
    const row = await this.database.first(`${DIGEST} WHERE ${where}`, values);
    return row === null ? null : toDigest(row);
  }
}

function toDigest(row: SqlRow): DigestRow {
  return readRow<DigestRow>(row, { flags: ["allowPrivate"] });
}

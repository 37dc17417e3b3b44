import { Rows } from "../../sql/rows.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { readRow } from "../../sql/columns.ts";
import { numberOrNull, type SqlRow } from "../../sql/database.ts";
import { deleteRows, sendRow, updateRows } from "../../sql/lists/counted-rows.ts";
import type { ReplyKind } from "../delivery/queue-rows.ts";
import type { Project } from "../inputs.ts";

export interface TextedSurvey {
  readonly project: Project;
  readonly requestId: number;
  readonly personId: number;
  readonly token: string;
  readonly from: string | null;
}

export interface TextPart {
  readonly reference: string;
  readonly number: number;
  readonly total: number;
}

export class TextRows extends Rows {
  /** Includes reminders, in all projects, newest first. */
  async surveysTo(phoneNumber: string, since: number): Promise<readonly TextedSurvey[]> {
    const rows: SqlRow[] = [];
    for (const { id = null } of await this.database.all("SELECT id FROM projects ORDER BY id"))
      rows.push(...(await this.database.all(TEXTED, [id, phoneNumber, since, SURVEYS_MAX])));
    return rows.toSorted((left, right) => Number(right.at) - Number(left.at)).map(toTextedSurvey);
  }

  async sentAbout({ project, requestId }: TextedSurvey): Promise<readonly string[]> {
    const sql =
      "SELECT frozen FROM messages WHERE project_id = ? AND (id = ? OR request_id = ?) AND frozen IS NOT NULL";
    const rows = await this.database.all(sql, [project.id, requestId, requestId]);
    const texts = rows.map(({ frozen }) => (JSON.parse(String(frozen)) as JsonObject).text);
    return texts.filter((text) => typeof text === "string");
  }

  async addReply(
    { project, requestId }: TextedSurvey,
    { kind, score }: { readonly kind: ReplyKind; readonly score: number | null },
  ): Promise<void> {
    sendRow(this.database, "messages", {
      project_id: project.id,
      id: await this.nextId(project.id),
      channel: "reply",
      request_id: requestId,
      reply_kind: kind,
      score,
      state: "scheduled",
      created_at: this.session.now,
      scheduled_at: this.session.now,
      due_at: this.session.now,
    });
  }

  async lastReplyAt({ project, requestId }: TextedSurvey, kind: ReplyKind): Promise<number | null> {
    const row = await this.database.first(
      "SELECT max(created_at) AS at FROM messages WHERE project_id = ? AND request_id = ? AND reply_kind = ?",
      [project.id, requestId, kind],
    );
    return numberOrNull(row?.at);
  }

  async dropReplies({ project, requestId }: TextedSurvey): Promise<void> {
    const waiting =
      "project_id = ? AND request_id = ? AND channel = 'reply' AND state IN ('scheduled', 'retrying', 'claimed')";
    const set = ["due_at = NULL, state = 'cancelled'"] as const;
    await updateRows(this.database, "messages", set, [waiting, project.id, requestId]);
  }

  async segmentsOn(project: number, day: string): Promise<number> {
    const sql = "SELECT n FROM text_segments WHERE project_id = ? AND day = ?";
    return Number((await this.database.first(sql, [project, day]))?.n ?? 0);
  }

  async addSegments(project: number, day: string, segments: number): Promise<void> {
    this.database.send(
      `INSERT INTO text_segments (project_id, day, n) VALUES (?, ?, ?)
         ON CONFLICT (project_id, day) DO UPDATE SET n = text_segments.n + excluded.n`,
      [project, day, segments],
    );
  }

  /** Returns the whole text once all parts are there, otherwise null. */
  async joinPart(phoneNumber: string, part: TextPart, text: string): Promise<string | null> {
    const key = [phoneNumber, part.reference];
    this.database.send(
      `INSERT INTO text_parts (phone_number, reference, n, total, text, at) VALUES (?, ?, ?, ?, ?, ?)
       ON CONFLICT (phone_number, reference, n) DO UPDATE SET total = excluded.total, text = excluded.text, at = excluded.at`,
      [...key, part.number, part.total, text, this.session.now],
    );
    const sql = "SELECT text FROM text_parts WHERE phone_number = ? AND reference = ? ORDER BY n";
    const rows = await this.database.all(sql, key);
    if (rows.length < part.total) return null;
    this.database.send("DELETE FROM text_parts WHERE phone_number = ? AND reference = ?", key);
    return rows.map((row) => String(row.text)).join("");
  }

  async dropParts(phoneNumber: string): Promise<void> {
    this.database.send("DELETE FROM text_parts WHERE phone_number = ?", [phoneNumber]);
  }

  /** Deletes old parts of incomplete messages and old replies, at most `limit` each. Returns how many. */
  async prune(before: { readonly parts: number; readonly replies: number }, limit: number): Promise<number> {
    const parts = await this.database.run(
      `DELETE FROM text_parts WHERE (phone_number, reference, n) IN
         (SELECT phone_number, reference, n FROM text_parts WHERE at < ? ORDER BY at LIMIT ?)`,
      [before.parts, limit],
    );
    const replies = await this.database.all(
      `SELECT project_id, id FROM messages WHERE person_id IS NULL AND channel = 'reply' AND created_at < ?
       ORDER BY created_at LIMIT ?`,
      [before.replies, limit],
    );
    for (const { project_id: project, id = null } of replies)
      await deleteRows(this.database, "messages", Number(project), ["id = ?", id]);
    return parts + replies.length;
  }
}

const SURVEYS_MAX = 10;

const TEXTED_AT = "coalesce(r.sent_at, r.transmitting_at, q.sent_at, q.transmitting_at)";

const TEXTED = `SELECT p.id AS "project.id", p.name AS "project.name", q.id AS "requestId", q.person_id AS "personId", q.token,
    coalesce(r.frozen, q.frozen) AS frozen, ${TEXTED_AT} AS at
  FROM people w
  JOIN messages q ON q.project_id = w.project_id AND q.person_id = w.id
  JOIN projects p ON p.id = q.project_id
  LEFT JOIN messages r ON r.project_id = q.project_id AND r.request_id = q.id AND r.channel = 'sms-reminder'
  WHERE w.project_id = ? AND w.phone_number = ? AND q.channel = 'sms' AND ${TEXTED_AT} >= ?
  ORDER BY at DESC, q.id DESC LIMIT ?`;

function toTextedSurvey(row: SqlRow): TextedSurvey {
  const { at: _, frozen, ...survey } = row;
  const { from } = typeof frozen === "string" ? (JSON.parse(frozen) as JsonObject) : {};
  return { ...readRow<Omit<TextedSurvey, "from">>(survey), from: typeof from === "string" ? from : null };
}

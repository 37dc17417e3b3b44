import { Rows } from "../../sql/rows.ts";
import { numberOrNull, type SqlRow } from "../../sql/database.ts";
import { responsesBy } from "../../sql/lists/counted-lists.ts";
import { deleteRows, sendRow, updateRows } from "../../sql/lists/counted-rows.ts";
import { countRows } from "../../sql/lists/list-counts.ts";
import { deleteRequests } from "../delivery/rows/claims.ts";
import { oldEvents } from "../webhooks/webhook-rows.ts";
import type { Position } from "../rows.ts";

export type RetentionMode = "anonymize" | "delete";

/** Rows older than these times (Unix seconds) expire; null keeps all of them. */
export type RetentionLimits = Readonly<Record<"responses" | "requests" | "events", number | null>>;

export interface RetentionCounts {
  readonly responses: number;
  readonly requests: number;
  readonly events: number;
  readonly log: number;
}

export interface OldResponse {
  readonly id: number;
  readonly personId: number;
  readonly createdAt: number;
}

export class RetentionRows extends Rows {
  async count(
    project: number,
    { responses, requests, events }: RetentionLimits,
    removed: number | null,
  ): Promise<Omit<RetentionCounts, "log">> {
    const count = async (sql: string, before: number | null): Promise<number> =>
      before === null
        ? 0
        : Number((await this.database.first(`SELECT count(*) AS n FROM ${sql}`, [project, before]))?.n);
    const list = responsesBy(project, null, "created_at");
    const all = responses === null ? 0 : await countRows(this.database, list, { since: null, until: responses - 1 });
    const anonymous = await count(
      `responses WHERE project_id = ? AND created_at < ? AND person_id = ${removed ?? 0}`,
      removed === null ? null : responses,
    );
    const states = ENDED.map((state) => `'${state}'`).join(", ");
    return {
      responses: all - anonymous,
      requests: await count(
        `messages WHERE project_id = ? AND created_at < ? AND person_id IS NOT NULL AND claimer IS NULL AND state IN (${states})`,
        requests,
      ),
      events: await count("webhook_events WHERE project_id = ? AND created_at < ?", events),
    };
  }

  async addRemovedPerson(project: number): Promise<number> {
    const id = await this.nextId(project);
    sendRow(this.database, "people", { project_id: project, id, created_at: this.session.now, removed: 1 });
    return id;
  }

  /** Oldest first. */
  async oldResponses(
    project: number,
    { before, after, limit }: { readonly before: number; readonly after: Position | null; readonly limit: number },
  ): Promise<readonly OldResponse[]> {
    return (await this.database.all(OLD_RESPONSES, [
      project,
      before,
      after?.createdAt ?? Number.MIN_SAFE_INTEGER,
      after?.id ?? 0,
      limit,
    ])) as unknown as OldResponse[];
  }

  /** The response stays in its trends with its score. Clients that poll for changes get the anonymous version. */
  async anonymize(project: number, id: number, removed: number): Promise<void> {
    const { updatedAt } = this.session;
    const set = `person_id = ?, request_id = NULL, comment = NULL, person_properties = '{}', tags = '[]',
      additional_answers = '[]', notes = '[]', note_ids = '[]', updated_at = ?`;
    await updateRows(this.database, "responses", [set, removed, updatedAt], ["project_id = ? AND id = ?", project, id]);
    const places = ["project_id = ? AND response_id = ?", project, id] as const;
    await updateRows(this.database, "trend_responses", ["updated_at = ?", updatedAt], places);
  }

  async lastResponseAt(project: number, personId: number): Promise<number | null> {
    const sql = "SELECT last_responded_at AS at FROM people WHERE project_id = ? AND id = ?";
    return numberOrNull((await this.database.first(sql, [project, personId]))?.at);
  }

  /** Returns the number of deleted requests. */
  async requests(project: number, before: number, limit: number): Promise<number> {
    const old: SqlRow[] = [];
    for (const state of ENDED)
      old.push(
        ...(await this.database.all(OLDEST_ENDED, [project, state, limit - old.length])).filter(
          ({ createdAt }) => Number(createdAt) < before,
        ),
      );
    for (const { id } of old)
      this.database.send("UPDATE responses SET request_id = NULL WHERE project_id = ? AND request_id = ?", [
        project,
        id ?? null,
      ]);
    for (const { id = null } of old) await deleteRequests(this.database, project, ["id = ?", id]);
    return old.length;
  }

  async events(project: number, before: number, limit: number): Promise<number> {
    return (await deleteRows(this.database, "webhook_events", project, oldEvents(project, before, limit))).length;
  }
}

const OLD_RESPONSES = `SELECT id, person_id AS "personId", created_at AS "createdAt" FROM responses
  WHERE project_id = ? AND created_at < ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`;

const ENDED = ["sent", "bounced", "failed", "cancelled", "unknown"] as const;

/** Ids ascend with time, so the search can end at the first recent row. */
const OLDEST_ENDED = `SELECT id, created_at AS "createdAt" FROM messages WHERE project_id = ? AND state = ? AND person_id IS NOT NULL AND claimer IS NULL ORDER BY id LIMIT ?`;

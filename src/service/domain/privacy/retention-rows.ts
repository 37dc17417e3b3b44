import type { Database, Session, SqlRow } from "../../sql/database.ts";
import { responsesBy } from "../../sql/lists/counted-lists.ts";
import { deleteRows, sendRow, updateRows } from "../../sql/lists/counted-rows.ts";
import { countRows } from "../../sql/lists/list-counts.ts";
import { deleteResponses, forgetDaysOf, type PlacedResponse } from "../answers/response-changes.ts";
import { refreshLastResponse } from "../answers/response-rows.ts";
import { deleteRequests } from "../delivery/rows/claims.ts";
import { nextId } from "../projects/project-rows.ts";
import { oldEvents } from "../webhooks/webhook-rows.ts";
import type { Position } from "../rows.ts";
import type { RetentionLimits, RetentionCounts } from "./rows.ts";

export class RetentionRows {
  readonly #database: Database;
  readonly #session: Session;

  constructor(database: Database, session: Session) {
    this.#database = database;
    this.#session = session;
  }

  /** `removed` is the person whose responses are anonymous; null when there is none yet. */
  async count(
    project: number,
    { responses, requests, events }: RetentionLimits,
    removed: number | null,
  ): Promise<RetentionCounts> {
    const count = async (sql: string, before: number | null): Promise<number> =>
      before === null
        ? 0
        : Number((await this.#database.first(`SELECT count(*) AS n FROM ${sql}`, [project, before]))?.n);
    const all =
      responses === null
        ? 0
        : await countRows(this.#database, responsesBy(project, null, "created_at"), {
            since: null,
            until: responses - 1,
          });
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

  /** Makes a person without address and name, whom no list shows. */
  async addRemovedPerson(project: number): Promise<number> {
    const id = await nextId(this.#database, project);
    sendRow(this.#database, "people", { project_id: project, id, created_at: this.#session.now, removed: 1 });
    return id;
  }

  /**
   * Deletes the next responses from before `before`, or with `removed` gives them to that person without comment,
   * properties, notes, tags and answers. Their scores stay where they are counted. `next` is null after the last ones.
   */
  async responses(
    project: number,
    step: {
      readonly before: number;
      readonly removed: number | null;
      readonly after: Position | null;
      readonly limit: number;
    },
  ): Promise<{ readonly changed: number; readonly next: Position | null }> {
    const rows = (await this.#database.all(OLD_RESPONSES, [
      project,
      step.before,
      step.after?.createdAt ?? Number.MIN_SAFE_INTEGER,
      step.after?.id ?? 0,
      step.limit,
    ])) as unknown as OldResponse[];
    const old = rows.filter(({ personId }) => personId !== step.removed);
    if (step.removed !== null) await anonymize(this.#database, this.#session, project, old, step.removed);
    else for (const { id } of old) await deleteResponses(this.#database, project, ["id = ?", id]);
    await refreshLastResponses(this.#database, project, old);
    return { changed: old.length, next: nextPlace(rows, step.limit) };
  }

  /**
   * Deletes survey requests that were made before `before` and wait for nothing. How many; less than the limit: all.
   */
  async requests(project: number, before: number, limit: number): Promise<number> {
    const old: SqlRow[] = [];
    for (const state of ENDED)
      old.push(
        ...(await this.#database.all(OLDEST_ENDED, [project, state, limit - old.length])).filter(
          ({ createdAt }) => Number(createdAt) < before,
        ),
      );
    for (const { id } of old)
      this.#database.send("UPDATE responses SET request_id = NULL WHERE project_id = ? AND request_id = ?", [
        project,
        id ?? null,
      ]);
    for (const { id = null } of old) await deleteRequests(this.#database, project, ["id = ?", id]);
    return old.length;
  }

  /** Deletes events of webhooks. How many; less than the limit: all. */
  async events(project: number, before: number, limit: number): Promise<number> {
    return (await deleteRows(this.#database, "webhook_events", project, oldEvents(project, before, limit))).length;
  }
}

type OldResponse = PlacedResponse & { readonly personId: number };

const OLD_RESPONSES = `SELECT id, person_id AS "personId", created_at AS "createdAt", updated_at AS "updatedAt", score,
  survey_type AS "surveyType" FROM responses
  WHERE project_id = ? AND created_at < ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`;

function nextPlace(rows: readonly OldResponse[], limit: number): Position | null {
  const last = rows.length < limit ? undefined : rows.at(-1);
  return last === undefined ? null : { createdAt: last.createdAt, id: last.id };
}

/** A person who has answered since keeps the newer last answer. */
async function refreshLastResponses(database: Database, project: number, rows: readonly OldResponse[]): Promise<void> {
  const last = new Map(rows.map(({ personId, createdAt }) => [personId, createdAt]));
  for (const [person, at] of last) {
    const sql = "SELECT last_responded_at AS at FROM people WHERE project_id = ? AND id = ?";
    const known = (await database.first(sql, [project, person]))?.at;
    if (typeof known === "number" && known <= at) refreshLastResponse(database, project, person);
  }
}

/** Clients that poll for changes get the anonymous row. It stays in its trends, though its properties go. */
async function anonymize(
  database: Database,
  { updatedAt }: Session,
  project: number,
  rows: readonly OldResponse[],
  removed: number,
): Promise<void> {
  const set = `person_id = ?, request_id = NULL, comment = NULL, person_properties = '{}', tags = '[]',
    additional_answers = '[]', notes = '[]', note_ids = '[]', updated_at = ?`;
  forgetDaysOf(database, project, rows);
  for (const { id } of rows) {
    await updateRows(database, "responses", [set, removed, updatedAt], ["project_id = ? AND id = ?", project, id]);
    const places = ["project_id = ? AND response_id = ?", project, id] as const;
    await updateRows(database, "trend_responses", ["updated_at = ?", updatedAt], places);
  }
}

/** States in which nothing happens any more. */
const ENDED = ["sent", "bounced", "failed", "cancelled", "unknown"] as const;

/** Ids rise with time, so the first that is young enough ends the search. */
const OLDEST_ENDED = `SELECT id, created_at AS "createdAt" FROM messages WHERE project_id = ? AND state = ? AND person_id IS NOT NULL AND claimer IS NULL ORDER BY id LIMIT ?`;

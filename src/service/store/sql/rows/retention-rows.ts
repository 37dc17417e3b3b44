/** Responses, survey requests and events that are older than they may be. */
import type { Position, RetentionCounts, RetentionLimits, RetentionRows } from "../../../domain/ports.ts";
import type { Database, Session, SqlRow } from "../database.ts";
import { responsesBy } from "../lists/counted-lists.ts";
import type { ListTallies } from "../lists/list-tallies.ts";
import { deleteResponses, type PlacedResponse, touchResponses } from "./answers/response-changes.ts";
import { refreshLastResponse } from "./answers/response-rows.ts";
import { deleteListedRequests } from "./people/person-removal.ts";
import { nextId } from "./project-rows.ts";

export function createRetentionRows(database: Database, session: Session, tallies: ListTallies): RetentionRows {
  return {
    count: async (project, limits, removed) => countOld(database, tallies, project, limits, removed),
    addRemovedPerson: async (project) => {
      const id = await nextId(database, project);
      database.send("INSERT INTO people (project_id, id, created_at, removed) VALUES (?, ?, ?, 1)", [
        project,
        id,
        session.now,
      ]);
      return id;
    },
    responses: async (project, step) => {
      const rows = (await database.all(OLD_RESPONSES, [
        project,
        step.before,
        step.after?.createdAt ?? Number.MIN_SAFE_INTEGER,
        step.after?.id ?? 0,
        step.limit,
      ])) as unknown as OldResponse[];
      const old = rows.filter(({ personId }) => personId !== step.removed);
      if (step.removed === null) await deleteResponses(database, tallies, project, old);
      else await anonymize(database, session, tallies, project, old, step.removed);
      await refreshLastResponses(database, project, old);
      return { changed: old.length, next: nextPlace(rows, step.limit) };
    },
    requests: async (project, before, limit) => deleteOldRequests(database, tallies, project, before, limit),
    events: async (project, before, limit) =>
      database.run(
        `DELETE FROM webhook_events WHERE project_id = ? AND id IN
           (SELECT id FROM webhook_events WHERE project_id = ? AND created_at < ? ORDER BY created_at, id LIMIT ?)`,
        [project, project, before, limit],
      ),
  };
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
  tallies: ListTallies,
  project: number,
  rows: readonly OldResponse[],
  removed: number,
): Promise<void> {
  const store = ({ id }: PlacedResponse): void =>
    database.send(
      `UPDATE responses SET person_id = ?, request_id = NULL, comment = NULL, person_properties = '{}', tags = '[]',
         additional_answers = '[]', notes = '[]', note_ids = '[]', updated_at = ? WHERE project_id = ? AND id = ?`,
      [removed, updatedAt, project, id],
    );
  if (rows.length > 0) await touchResponses(database, tallies, project, rows, { updatedAt, store });
}

/** States in which nothing happens any more. */
const ENDED = ["sent", "bounced", "failed", "cancelled", "unknown"] as const;

/** Ids rise with time, so the first that is young enough ends the search. */
const OLDEST_ENDED = `SELECT id, person_id AS "personId", channel, sent_at AS "sentAt", answered_at AS "answeredAt",
  created_at AS "createdAt" FROM messages WHERE project_id = ? AND state = ? AND person_id IS NOT NULL AND claimer IS NULL ORDER BY id LIMIT ?`;

async function deleteOldRequests(
  database: Database,
  tallies: ListTallies,
  project: number,
  before: number,
  limit: number,
): Promise<number> {
  const old: SqlRow[] = [];
  for (const state of ENDED)
    old.push(
      ...(await database.all(OLDEST_ENDED, [project, state, limit - old.length])).filter(
        ({ createdAt }) => Number(createdAt) < before,
      ),
    );
  for (const { id } of old)
    database.send("UPDATE responses SET request_id = NULL WHERE project_id = ? AND request_id = ?", [
      project,
      id ?? null,
    ]);
  await deleteListedRequests(database, tallies, project, old);
  return old.length;
}

async function countOld(
  database: Database,
  tallies: ListTallies,
  project: number,
  { responses, requests, events }: RetentionLimits,
  removed: number | null,
): Promise<RetentionCounts> {
  const count = async (sql: string, before: number | null): Promise<number> =>
    before === null ? 0 : Number((await database.first(`SELECT count(*) AS n FROM ${sql}`, [project, before]))?.n);
  const all =
    responses === null
      ? 0
      : await tallies.count(responsesBy(project, null, "created_at"), { since: null, until: responses - 1 });
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

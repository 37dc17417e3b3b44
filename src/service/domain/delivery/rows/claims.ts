/** A claim is a lease: when it expires, the message is due again. */
import type { ClaimKey } from "../queue-rows.ts";
import type { Database } from "../../../sql/database.ts";
import { deleteRows, type Fragment, type OfProject } from "../../../sql/lists/counted-rows.ts";

export const IS_WAITING = "state IN ('scheduled', 'claimed', 'transmitting', 'retrying', 'held')";

export const WAITING_AGAIN = "CASE WHEN attempts > 0 THEN 'retrying' ELSE 'scheduled' END";

/** Doesn't select by state: without statistics, an engine would scan the index of states for every sent survey. */
export const NEXT_SURVEY_AT = `(SELECT min(CASE WHEN r.${IS_WAITING} THEN r.scheduled_at END) FROM messages r
  WHERE r.project_id = people.project_id AND r.person_id = people.id)`;

/** `more` is assigned in the same statement. */
export function refreshNextSurvey(database: Database, project: number, personId: number, ...more: string[]): void {
  const set = [`next_survey_at = ${NEXT_SURVEY_AT}`, ...more].join(", ");
  database.send(`UPDATE people SET ${set} WHERE project_id = ? AND id = ?`, [project, personId]);
}

/** Records requests that were ever claimed, because their messages may be in an outbox. */
export function noteErased(database: Database, [where, ...values]: OfProject): void {
  database.send(
    `INSERT INTO erased_surveys (token, project_id, request_id, channel)
     SELECT token, project_id, id, channel FROM messages WHERE ${where} AND claims > 0 AND token IS NOT NULL
     ON CONFLICT DO NOTHING`,
    values,
  );
}

/** Returns the number of requests. Records their messages as erased in the same transaction. */
export async function deleteRequests(database: Database, project: number, where: Fragment): Promise<number> {
  const [sql, ...values] = where;
  noteErased(database, [`project_id = ? AND ${sql}`, project, ...values]);
  return (await deleteRows(database, "messages", project, where)).length;
}

export const THIS_CLAIM = "project_id = ? AND id = ? AND claimer IS NOT DISTINCT FROM ? AND claims = ?";

export function claimKey({ project, requestId, claimer, claims }: ClaimKey): (string | number | null)[] {
  return [project.id, requestId, claimer, claims];
}

/** Deleting a person: gone for every reader at once, their rows in steps. */
import type { Database, SqlRow } from "../../database.ts";
import { peopleBy, peopleIn, requestsAnswered, requestsSent } from "../../lists/counted-lists.ts";
import type { CountedRow, ListTallies } from "../../lists/list-tallies.ts";
import { STEP, type LongChange, type LongChanges } from "../long-changes.ts";
import { deleteRequests } from "../delivery/claims.ts";
import { deleteResponsesOf } from "../answers/response-changes.ts";

/** True when nothing is left of the person; else the rest follows in steps. */
export async function removePerson(
  database: Database,
  tallies: ListTallies,
  changes: LongChanges,
  project: number,
  id: number,
): Promise<boolean> {
  await hidePerson(database, tallies, project, id);
  return changes.begin({ project, kind: "remove person", target: String(id) });
}

/** The person is not found any more, nothing is sent to them, and their addresses are free. */
async function hidePerson(database: Database, tallies: ListTallies, project: number, id: number): Promise<void> {
  const person = await database.first(
    "SELECT created_at, bounced_at, unsubscribed_at, phone_number FROM people WHERE project_id = ? AND id = ? AND removed = 0",
    [project, id],
  );
  if (person === null) return;
  tallies.remove(peopleIn(project), { at: Number(person.created_at), score: null });
  for (const column of ["bounced_at", "unsubscribed_at"] as const) {
    const at = person[column];
    if (typeof at === "number") tallies.remove(peopleBy(project, column), { at, score: null });
  }
  database.send(
    `UPDATE people SET removed = 1, email = NULL, email_key = NULL, name = NULL, phone_number = NULL, properties = NULL, bounced_at = NULL,
       unsubscribed_at = NULL, next_survey_at = NULL WHERE project_id = ? AND id = ?`,
    [project, id],
  );
  database.send("DELETE FROM resubscriptions WHERE project_id = ? AND person_id = ?", [project, id]);
  database.send("DELETE FROM memberships WHERE project_id = ? AND person_id = ?", [project, id]);
  database.send("DELETE FROM unscheduled_surveys WHERE project_id = ? AND person_id = ?", [project, id]);
  // Of a long text whose other parts have not come.
  if (person.phone_number !== null)
    database.send("DELETE FROM text_parts WHERE phone_number = ?", [person.phone_number ?? null]);
  // Events hold the person's addresses and answers.
  database.send("DELETE FROM webhook_events WHERE project_id = ? AND person_id = ?", [project, id]);
  await deleteRequests(database, "project_id = ? AND person_id = ? AND sent_at IS NULL", [project, id]);
}

/** A step of "remove person": responses first, then requests, with the last of them the person. */
export async function removePersonStep(
  database: Database,
  tallies: ListTallies,
  { project, target }: LongChange,
): Promise<number | null> {
  const person = Number(target);
  const left = STEP - (await deleteResponsesOf(database, tallies, project, person, STEP));
  if ((await deleteRequestsOf(database, tallies, project, person, left)) === left) return 0;
  database.send("DELETE FROM people WHERE project_id = ? AND id = ?", [project, person]);
  return null;
}

/** Deletes survey requests of a person, `limit` at most, and returns how many. */
async function deleteRequestsOf(
  database: Database,
  tallies: ListTallies,
  project: number,
  person: number,
  limit: number,
): Promise<number> {
  const rows = await database.all(
    `SELECT id, channel, sent_at AS "sentAt", answered_at AS "answeredAt" FROM messages WHERE project_id = ? AND person_id = ? LIMIT ?`,
    [project, person, limit],
  );
  await deleteListedRequests(database, tallies, project, rows);
  return rows.length;
}

/** Deletes survey requests and counts out those that were sent. */
export async function deleteListedRequests(
  database: Database,
  tallies: ListTallies,
  project: number,
  rows: readonly SqlRow[],
): Promise<void> {
  for (const { id } of rows) await deleteRequests(database, "project_id = ? AND id = ?", [project, id ?? null]);
  for (const channel of ["email", "sms"] as const) {
    const sent = rows.filter((row) => row.channel === channel && row.sentAt !== null);
    tallies.remove(requestsSent(project, channel), ...sent.map(toCounted));
    const answered = sent.filter((row) => row.answeredAt !== null);
    tallies.remove(requestsAnswered(project, channel), ...answered.map(toCounted));
  }
}

function toCounted({ sentAt }: SqlRow): CountedRow {
  return { at: Number(sentAt), score: null };
}

/** Deleting a person: gone for every reader at once, their rows in steps. */
import type { Database } from "../../sql/database.ts";
import { deleteRows, updateRows } from "../../sql/lists/counted-rows.ts";
import { STEP, type LongChange, type LongChanges } from "../../sql/long-changes.ts";
import { deleteRequests } from "../delivery/rows/claims.ts";
import { deleteResponses } from "../answers/response-changes.ts";

/** True when nothing is left of the person; else the rest follows in steps. */
export async function removePerson(
  database: Database,
  changes: LongChanges,
  project: number,
  id: number,
): Promise<boolean> {
  await hidePerson(database, project, id);
  return changes.begin({ project, kind: "remove person", target: String(id) });
}

/** The person is not found any more, nothing is sent to them, and their addresses are free. */
async function hidePerson(database: Database, project: number, id: number): Promise<void> {
  const person = await database.first(
    "SELECT phone_number FROM people WHERE project_id = ? AND id = ? AND removed = 0",
    [project, id],
  );
  if (person === null) return;
  const nothing = `removed = 1, email = NULL, email_key = NULL, name = NULL, phone_number = NULL, properties = NULL,
    bounced_at = NULL, unsubscribed_at = NULL, next_survey_at = NULL`;
  await updateRows(database, "people", [nothing], ["project_id = ? AND id = ?", project, id]);
  database.send("DELETE FROM resubscriptions WHERE project_id = ? AND person_id = ?", [project, id]);
  database.send("DELETE FROM memberships WHERE project_id = ? AND person_id = ?", [project, id]);
  database.send("DELETE FROM unscheduled_surveys WHERE project_id = ? AND person_id = ?", [project, id]);
  // Of a long text whose other parts have not come.
  if (person.phone_number !== null)
    database.send("DELETE FROM text_parts WHERE phone_number = ?", [person.phone_number ?? null]);
  // Events hold the person's addresses and answers.
  await deleteRows(database, "webhook_events", project, ["person_id = ?", id]);
  await deleteRequests(database, project, ["person_id = ? AND sent_at IS NULL", id]);
}

/** A step of "remove person": responses first, then requests, with the last of them the person. */
export async function removePersonStep(database: Database, { project, target }: LongChange): Promise<number | null> {
  const person = Number(target);
  const someOf = (table: string, limit: number) => {
    const ids = `SELECT id FROM ${table} WHERE project_id = ? AND person_id = ? ORDER BY id LIMIT ?`;
    return [`id IN (${ids})`, project, person, limit] as const;
  };
  const left = STEP - (await deleteResponses(database, project, someOf("responses", STEP)));
  if (left === 0 || (await deleteRequests(database, project, someOf("messages", left))) === left) return 0;
  await deleteRows(database, "people", project, ["id = ?", person]);
  return null;
}

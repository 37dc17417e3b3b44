/** Deleting a person: gone for every reader at once, their rows in steps. */
import type { Channel } from "../../../../contract/routes.ts";
import type { Database } from "../engine/database.ts";
import type { SqlRow } from "../engine/engine.ts";
import { peopleBy, peopleIn, requestsSent } from "../lists/counted-lists.ts";
import type { ListBlocks } from "../lists/list-blocks.ts";
import { STEP, type LongChange, type LongChanges } from "../steps/long-changes.ts";
import { deleteResponse } from "./response-changes.ts";

/** Whether nothing is left of the person; else the rest follows in steps. */
export function removePerson(
  database: Database,
  blocks: ListBlocks,
  changes: LongChanges,
  project: number,
  id: number,
): boolean {
  hidePerson(database, blocks, project, id);
  return changes.begin({ project, kind: "remove person", target: String(id) });
}

/** Nobody finds them, nothing is sent to them, and their addresses are free for others. */
function hidePerson(database: Database, blocks: ListBlocks, project: number, id: number): void {
  const person = database.first(
    "SELECT created_at, bounced_at, unsubscribed_at FROM people WHERE project_id = ? AND id = ? AND removed = 0",
    [project, id],
  );
  if (person === null) return;
  blocks.remove(peopleIn(project), { key: [Number(person.created_at), id], other: 0, score: null });
  for (const column of ["bounced_at", "unsubscribed_at"] as const) {
    const at = person[column];
    if (typeof at === "number") blocks.remove(peopleBy(project, column), { key: [at, id], other: 0, score: null });
  }
  database.run(
    `UPDATE people SET removed = 1, email = NULL, email_key = NULL, name = NULL, phone_number = NULL, bounced_at = NULL,
       unsubscribed_at = NULL, next_survey_at = NULL WHERE project_id = ? AND id = ?`,
    [project, id],
  );
  database.run("DELETE FROM memberships WHERE project_id = ? AND person_id = ?", [project, id]);
  database.run("DELETE FROM survey_requests WHERE project_id = ? AND person_id = ? AND sent_at IS NULL", [project, id]);
}

/** A step of "remove person": responses first, then requests, with the last of them the person. */
export function removePersonStep(
  database: Database,
  blocks: ListBlocks,
  { project, target }: LongChange,
): number | null {
  const person = Number(target);
  const of = "project_id = ? AND person_id = ? LIMIT ?";
  const responses = database.all(`SELECT id, created_at, updated_at, score FROM responses WHERE ${of}`, [
    project,
    person,
    STEP,
  ]);
  for (const row of responses) deleteResponse(database, blocks, project, row);
  const left = STEP - responses.length;
  const requests = database.all(`SELECT id, channel, sent_at FROM survey_requests WHERE ${of}`, [
    project,
    person,
    left,
  ]);
  for (const row of requests) deleteRequest(database, blocks, project, row);
  if (requests.length === left) return 0;
  database.run("DELETE FROM people WHERE project_id = ? AND id = ?", [project, person]);
  return null;
}

function deleteRequest(database: Database, blocks: ListBlocks, project: number, row: SqlRow): void {
  const id = Number(row.id);
  database.run("DELETE FROM survey_requests WHERE project_id = ? AND id = ?", [project, id]);
  if (row.sent_at === null) return;
  const list = requestsSent(project, row.channel as Channel);
  blocks.remove(list, { key: [Number(row.sent_at), id], other: 0, score: null });
}

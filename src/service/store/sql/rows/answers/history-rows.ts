import { emailKey } from "../../../../../contract/text/email.ts";
import type { Properties } from "../../../../../contract/resources.ts";
import type { LastAnswer, HistoryRows, NewPastResponse, StoredPastResponse } from "../../../../domain/history/rows.ts";
import type { PersonRow } from "../../../../domain/ports.ts";
import { allIn, type Database } from "../../../../sql/database.ts";
import type { SqlValue } from "../../../../sql/database.ts";
import { sendRow, updateRows } from "../../../../sql/lists/counted-rows.ts";
import { assignPerson, PERSON, personRow } from "../people/person-columns.ts";
import { nextId, reserveId } from "../project-rows.ts";
import { type EnteredResponse, enterResponses, leaveResponse } from "./response-changes.ts";
import { assignResponse, RESPONSE, responseRow } from "./response-columns.ts";
import { refreshLastResponse } from "./response-rows.ts";
import type { FileSecrets } from "../secret-rows.ts";
import { suppressedEmails } from "../people/suppression-rows.ts";

/** `tokens` makes so many, each unguessable. */
export function createHistoryRows(
  database: Database,
  secrets: FileSecrets,
  tokens: (count: number) => readonly string[],
): HistoryRows {
  const people = async (project: number, column: string, values: readonly SqlValue[]): Promise<PersonRow[]> =>
    (await allIn(database, `${PERSON} AND ${column} IN`, [project], [...new Set(values)])) as unknown as PersonRow[];
  return {
    reserve: async (project, id) => {
      const { nextId: free } = await database.state(project);
      await reserveId(database, project, id);
      return free;
    },
    nextId: async (project) => nextId(database, project),
    people: async (project, ids) => people(project, "id", ids),
    markedUpTo: async (project, ids) => {
      const sql = `SELECT id, last_responded_at AS answered, last_sent_at AS sent FROM people
         WHERE project_id = ? AND removed = 0 AND id IN`;
      const rows = await allIn(database, sql, [project], [...new Set(ids)]);
      return new Map(
        rows.map(({ id, answered, sent }) => [Number(id), Math.min(Number(answered ?? -1), Number(sent ?? -1))]),
      );
    },
    peopleByEmail: async (project, emails) => people(project, "email_key", emails.map(emailKey)),
    peopleByPhone: async (project, phoneNumbers) => people(project, "phone_number", phoneNumbers),
    insertPeople: async (project, rows) => {
      for (const person of rows) sendRow(database, "people", personRow(project, { ...person, nextSurveyAt: null }));
    },
    replacePerson: async (project, { id, ...person }) => {
      const set = assignPerson(person);
      if (set !== null) await updateRows(database, "people", set, ["project_id = ? AND id = ?", project, id]);
    },
    suppressed: async (project, emails) => suppressedEmails(database, secrets, project, emails),
    responses: async (project, ids) =>
      (await allIn(database, `${RESPONSE} AND id IN`, [project], ids)) as unknown as StoredPastResponse[],
    findResponse: async (project, personId, createdAt, score) => {
      const values = [project, personId, createdAt, score];
      const sql = "SELECT id FROM responses WHERE project_id = ? AND person_id = ? AND created_at = ? AND score = ?";
      return ((await database.first(`${sql} ORDER BY id LIMIT 1`, values))?.id as number | undefined) ?? null;
    },
    insertResponses: async (project, rows) => insertResponses(database, project, rows, tokens(rows.length)),
    replaceResponse: async (project, row) => replaceResponse(database, project, row),
    markAnswered: async (project, rows) => markAnswered(database, project, rows),
  };
}

async function insertResponses(
  database: Database,
  project: number,
  responses: readonly NewPastResponse[],
  tokens: readonly string[],
): Promise<void> {
  for (const [index, { permalink = null, ...row }] of responses.entries()) {
    const origin = { requestId: null, token: tokens[index]!, permalink, origin: null };
    sendRow(database, "responses", responseRow(project, row, origin));
  }
  if (responses.length > 0) await enterResponses(database, project, responses.map(toEntered));
}

function toEntered(row: StoredPastResponse): EnteredResponse {
  return { row, properties: () => JSON.parse(row.properties) as Properties };
}

async function replaceResponse(database: Database, project: number, row: NewPastResponse): Promise<void> {
  const [old] = await database.all(`${RESPONSE} AND id = ?`, [project, row.id]);
  const before = old as unknown as StoredPastResponse;
  const { id, permalink = null, ...columns } = row;
  await leaveResponse(database, project, before);
  const set = assignResponse(columns, permalink);
  await updateRows(database, "responses", set, ["project_id = ? AND id = ?", project, id]);
  await enterResponses(database, project, [toEntered(row)]);
  for (const person of new Set([before.personId, row.personId])) refreshLastResponse(database, project, person);
}

function markAnswered(database: Database, project: number, people: readonly LastAnswer[]): void {
  for (const { id, at } of people)
    database.send(
      `UPDATE people SET
         last_responded_at = CASE WHEN last_responded_at >= ? THEN last_responded_at ELSE ? END,
         last_sent_at = CASE WHEN last_sent_at >= ? THEN last_sent_at ELSE ? END
       WHERE project_id = ? AND id = ? AND (coalesce(last_responded_at, -1) < ? OR coalesce(last_sent_at, -1) < ?)`,
      [at, at, at, at, project, id, at, at],
    );
}

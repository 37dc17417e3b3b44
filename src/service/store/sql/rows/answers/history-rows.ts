import { emailKey } from "../../../../../contract/text/email.ts";
import type { Properties } from "../../../../../contract/resources.ts";
import type {
  LastAnswer,
  HistoryRows,
  NewPastResponse,
  StoredPastPerson,
  StoredPastResponse,
} from "../../../../domain/history/rows.ts";
import type { PersonRow } from "../../../../domain/ports.ts";
import { allIn, type Database } from "../../database.ts";
import type { SqlValue } from "../../database.ts";
import { peopleBy, peopleIn } from "../../lists/counted-lists.ts";
import type { CountedRow, ListTallies } from "../../lists/list-tallies.ts";
import { insertPersonSql, PERSON, updatePersonSql } from "../people/person-columns.ts";
import { EVENTS } from "../people/person-rows.ts";
import { nextId, reserveId } from "../project-rows.ts";
import { enterResponses, leaveResponse } from "./response-changes.ts";
import { insertResponseSql, RESPONSE, updateResponseSql } from "./response-columns.ts";
import type { FileSecrets } from "../secret-rows.ts";
import { suppressedEmails } from "../people/suppression-rows.ts";

/** `tokens` makes so many, each unguessable. */
export function createHistoryRows(
  database: Database,
  tallies: ListTallies,
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
    insertPeople: async (project, rows) => insertPeople(database, tallies, project, rows),
    replacePerson: async (project, old, person) => {
      countPeople(tallies, project, [old], "remove");
      const { id, ...columns } = person;
      const update = updatePersonSql(project, id, columns);
      if (update !== null) database.send(...update);
      countPeople(tallies, project, [person], "add");
    },
    suppressed: async (project, emails) => suppressedEmails(database, secrets, project, emails),
    responses: async (project, ids) =>
      (await allIn(database, `${RESPONSE} AND id IN`, [project], ids)) as unknown as StoredPastResponse[],
    findResponse: async (project, personId, createdAt, score) => {
      const values = [project, personId, createdAt, score];
      const sql = "SELECT id FROM responses WHERE project_id = ? AND person_id = ? AND created_at = ? AND score = ?";
      return ((await database.first(`${sql} ORDER BY id LIMIT 1`, values))?.id as number | undefined) ?? null;
    },
    insertResponses: async (project, rows) => insertResponses(database, tallies, project, rows, tokens(rows.length)),
    replaceResponse: async (project, row) => replaceResponse(database, tallies, project, row),
    markAnswered: async (project, rows) => markAnswered(database, project, rows),
  };
}

async function insertPeople(
  database: Database,
  tallies: ListTallies,
  project: number,
  people: readonly Omit<PersonRow, "nextSurveyAt">[],
): Promise<void> {
  for (const person of people) database.send(...insertPersonSql(project, { ...person, nextSurveyAt: null }));
  countPeople(tallies, project, people, "add");
}

/** Counts people in or out of every list that they are in. */
function countPeople(
  tallies: ListTallies,
  project: number,
  people: readonly StoredPastPerson[],
  change: "add" | "remove",
): void {
  tallies[change](peopleIn(project), ...people.map(({ createdAt }) => ({ at: createdAt, score: null })));
  for (const [column, field] of EVENTS) {
    const times = people.flatMap(({ [field]: at }): CountedRow[] => (at === null ? [] : [{ at, score: null }]));
    tallies[change](peopleBy(project, column), ...times);
  }
}

async function insertResponses(
  database: Database,
  tallies: ListTallies,
  project: number,
  responses: readonly NewPastResponse[],
  tokens: readonly string[],
): Promise<void> {
  for (const [index, { permalink = null, ...row }] of responses.entries())
    database.send(
      ...insertResponseSql(project, row, { requestId: null, token: tokens[index]!, permalink, origin: null }),
    );
  if (responses.length > 0) await enterResponses(database, tallies, project, responses.map(toEntered));
}

function toEntered(row: StoredPastResponse): { row: StoredPastResponse; properties: () => Properties } {
  return { row, properties: () => JSON.parse(row.properties) as Properties };
}

async function replaceResponse(
  database: Database,
  tallies: ListTallies,
  project: number,
  row: NewPastResponse,
): Promise<void> {
  const [old] = await database.all(`${RESPONSE} AND id = ?`, [project, row.id]);
  const before = old as unknown as StoredPastResponse;
  const { id, permalink = null, ...columns } = row;
  await leaveResponse(database, tallies, project, before);
  database.send(...updateResponseSql(project, id, columns, permalink));
  await enterResponses(database, tallies, project, [toEntered(row)]);
  for (const person of new Set([before.personId, row.personId]))
    database.send(
      `UPDATE people SET last_responded_at =
         (SELECT max(r.created_at) FROM responses r WHERE r.project_id = people.project_id AND r.person_id = people.id)
       WHERE project_id = ? AND id = ?`,
      [project, person],
    );
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

import { emailKey } from "../../../../../contract/text/email.ts";
import { TakenError } from "../../../../domain/errors.ts";
import type {
  EventsFilter,
  JsonRows,
  NewPerson,
  PeopleFilter,
  PersonChange,
  PersonRow,
  PersonRows,
  Resubscription,
} from "../../../../domain/ports.ts";
import { UNKNOWN_PERSON } from "../../../../domain/rows.ts";
import { type Database, UniqueViolation } from "../../../../sql/database.ts";
import type { SqlRow, SqlValue } from "../../../../sql/database.ts";
import { type EventColumn, peopleBy } from "../../../../sql/lists/counted-lists.ts";
import { insertRow, updateRows } from "../../../../sql/lists/counted-rows.ts";
import {
  addCondition,
  addRange,
  jsonNumber,
  jsonObject,
  jsonText,
  type Where,
  whereSql,
} from "../../../../sql/lists/fragments.ts";
import { countRows } from "../../../../sql/lists/list-counts.ts";
import { findPage } from "../../../../sql/lists/list-pages.ts";
import { nextId, reserveId } from "../project-rows.ts";
import type { LongChanges } from "../long-changes.ts";
import { assignPerson, PERSON, personRow } from "./person-columns.ts";
import { removePerson } from "./person-removal.ts";

const BY_ID = `${PERSON} AND id = ?`;
const BY_EMAIL = `${PERSON} AND email_key = ?`;
const BY_PHONE = `${PERSON} AND phone_number = ?`;

export function createPersonRows(database: Database, changes: LongChanges): PersonRows {
  const first = async (sql: string, values: readonly SqlValue[]): Promise<PersonRow | null> =>
    toPerson(await database.first(sql, values));
  return {
    byId: async (project, id) => first(BY_ID, [project, id]),
    byEmail: async (project, email) => first(BY_EMAIL, [project, emailKey(email)]),
    byPhone: async (project, phoneNumber) => first(BY_PHONE, [project, phoneNumber]),
    insert: async (project, person) => insertPerson(database, project, person),
    update: async (project, id, change) => updatePerson(database, project, id, change),
    delete: async (project, id) => removePerson(database, changes, project, id),
    list: async (project, filter) => listPeople(database, project, filter),
    listBounced: async (project, filter) => listEvents(database, project, "bounced_at", filter),
    listUnsubscribed: async (project, filter) => listEvents(database, project, "unsubscribed_at", filter),
    countBounced: async (project, range) => countRows(database, peopleBy(project, "bounced_at"), range),
    countUnsubscribed: async (project, range) => countRows(database, peopleBy(project, "unsubscribed_at"), range),
    noteResubscription: async (project, id, { at, note }) => {
      database.send(
        `INSERT INTO resubscriptions (project_id, person_id, at, note) VALUES (?, ?, ?, ?)
         ON CONFLICT (project_id, person_id, at) DO UPDATE SET note = excluded.note`,
        [project, id, at, note],
      );
    },
    resubscriptions: async (project, id) =>
      (await database.all("SELECT at, note FROM resubscriptions WHERE project_id = ? AND person_id = ? ORDER BY at", [
        project,
        id,
      ])) as unknown as readonly Resubscription[],
  };
}

function toPerson(row: SqlRow | null): PersonRow | null {
  return row as PersonRow | null;
}

async function insertPerson(database: Database, project: number, person: NewPerson): Promise<PersonRow> {
  const { email, name, phoneNumber, createdAt, lastSentAt, nextSurveyAt = null, properties = null } = person;
  const id = person.id === undefined ? await nextId(database, project) : await reserveId(database, project, person.id);
  const row = { ...UNKNOWN_PERSON, id, email, name, phoneNumber, properties, createdAt, lastSentAt, nextSurveyAt };
  await refuseTaken(() => insertRow(database, "people", personRow(project, row)));
  return row;
}

async function updatePerson(database: Database, project: number, id: number, change: PersonChange): Promise<void> {
  const set = assignPerson(change);
  if (set === null) return;
  await refuseTaken(() => updateRows(database, "people", set, ["project_id = ? AND id = ?", project, id]));
}

async function refuseTaken(work: () => Promise<unknown>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw error instanceof UniqueViolation ? new TakenError(takenField(error), { cause: error }) : error;
  }
}

function takenField({ columns }: UniqueViolation): "email" | "phoneNumber" | "id" {
  if (columns.includes("email_key")) return "email";
  return columns.includes("phone_number") ? "phoneNumber" : "id";
}

const PERSON_MEMBERS: readonly (readonly [name: string, part: string])[] = [
  ["id", `'"', id, '"'`],
  ["email", jsonText("email")],
  ["name", jsonText("name")],
  ["created_at", "created_at"],
  ["phone_number", jsonText("phone_number")],
  ["last_sent_at", jsonNumber("last_sent_at")],
  ["last_responded_at", jsonNumber("last_responded_at")],
  ["next_survey_scheduled_at", jsonNumber("next_survey_at")],
];
const PERSON_JSON = jsonObject(PERSON_MEMBERS);
const PERSON_JSON_WITH_PROPERTIES = jsonObject([...PERSON_MEMBERS, ["properties", "coalesce(properties, '{}')"]]);

async function listPeople(database: Database, project: number, filter: PeopleFilter): Promise<JsonRows> {
  const where: Where = { clauses: ["project_id = ?", "removed = 0"], values: [project] };
  const { after, until, ids } = filter;
  if (ids !== undefined) addCondition(where, `id IN (${["NULL", ...ids.map(() => "?")].join(", ")})`, ...ids);
  // Of two lower bounds SQLite might search by the farther one.
  const since = after !== null && after.createdAt >= (filter.since ?? after.createdAt) ? null : filter.since;
  addRange(where, "created_at", { since, until });
  if (after !== null) addCondition(where, "(created_at, id) > (?, ?)", after.createdAt, after.id);
  const row = filter.withProperties === true ? PERSON_JSON_WITH_PROPERTIES : PERSON_JSON;
  const sql = `SELECT ${row} AS json FROM people WHERE ${whereSql(where)} ORDER BY created_at, id LIMIT ?`;
  return (await database.all(sql, [...where.values, filter.limit])).map(({ json }) => String(json));
}

const EVENT_JSON: Readonly<Record<EventColumn, string>> = {
  bounced_at: eventJson("bounced_at"),
  unsubscribed_at: eventJson("unsubscribed_at"),
};

function eventJson(column: EventColumn): string {
  return jsonObject([
    ["person_id", `'"', id, '"'`],
    ["email", jsonText("email")],
    ["name", jsonText("name")],
    [column, column],
  ]);
}

/** People to whom it happened, oldest first. */
async function listEvents(
  database: Database,
  project: number,
  column: EventColumn,
  range: EventsFilter,
): Promise<JsonRows> {
  const { offset, limit } = range;
  const query = { list: peopleBy(project, column), range, other: null, descending: false, offset, limit };
  const slice = await findPage(database, query);
  if (slice === null) return [];
  const sql = `SELECT ${EVENT_JSON[column]} AS json FROM people WHERE ${whereSql(slice.where)} ORDER BY ${slice.order} LIMIT ? OFFSET ?`;
  const values = [...slice.where.values, slice.limit, slice.offset];
  const rows = await database.all(sql, values);
  return (slice.isReversed ? rows.toReversed() : rows).map(({ json }) => String(json));
}

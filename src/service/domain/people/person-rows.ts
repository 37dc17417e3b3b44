import { emailKey } from "../../../contract/text/email.ts";
import { Rows } from "../../sql/rows.ts";
import { type EventColumn, peopleBy } from "../../sql/lists/counted-lists.ts";
import { deleteRows, insertRow, updateRows } from "../../sql/lists/counted-rows.ts";
import {
  addCondition,
  addRange,
  jsonNumber,
  jsonObject,
  jsonText,
  type Where,
  whereSql,
} from "../../sql/lists/fragments.ts";
import { countRows } from "../../sql/lists/list-counts.ts";
import { findPage } from "../../sql/lists/list-pages.ts";
import { assignPerson, COUNT_WRITE, PERSON, personRow, type PersonRow } from "./person-columns.ts";
import { deleteRequests } from "../delivery/rows/claims.ts";
import type { TimeRange } from "../inputs.ts";
import type { JsonRows, Position, EventsFilter } from "../rows.ts";

export const UNKNOWN_PERSON: PersonRow = {
  id: 0,
  email: null,
  name: null,
  phoneNumber: null,
  properties: null,
  createdAt: 0,
  lastSentAt: null,
  lastRespondedAt: null,
  nextSurveyAt: null,
  bouncedAt: null,
  unsubscribedAt: null,
  unsubscribedBy: null,
  writes: 0,
  valueWrites: 0,
};

export type PersonChange = Partial<Omit<PersonRow, "id" | "createdAt" | "nextSurveyAt" | "lastRespondedAt" | "writes">>;

export type NewPerson = Partial<Omit<PersonRow, "id">> & Pick<PersonRow, "createdAt">;

export interface PeopleFilter extends TimeRange {
  /** Adds `properties`, which rows don't have in the specification. */
  readonly withProperties?: boolean;
  readonly ids?: readonly number[] | undefined;
  readonly after: Position | null;
  readonly limit: number;
}

export interface Resubscription {
  readonly at: number;
  readonly note: string;
}

const BY_ID = `${PERSON} AND id = ?`;
const BY_EMAIL = `${PERSON} AND email_key = ?`;
const BY_PHONE = `${PERSON} AND phone_number = ?`;

export class PersonRows extends Rows {
  async byId(project: number, id: number): Promise<PersonRow | null> {
    return (await this.database.first(BY_ID, [project, id])) as PersonRow | null;
  }

  /** Ignores case. */
  async byEmail(project: number, email: string): Promise<PersonRow | null> {
    return (await this.database.first(BY_EMAIL, [project, emailKey(email)])) as PersonRow | null;
  }

  async byPhone(project: number, phoneNumber: string): Promise<PersonRow | null> {
    return (await this.database.first(BY_PHONE, [project, phoneNumber])) as PersonRow | null;
  }

  async insert(project: number, person: NewPerson): Promise<PersonRow> {
    const row = { ...UNKNOWN_PERSON, ...person, id: await this.nextId(project) };
    await insertRow(this.database, "people", personRow(project, row));
    return row;
  }

  async update(project: number, id: number, change: PersonChange): Promise<void> {
    await updateRows(this.database, "people", assignPerson(change), ["project_id = ? AND id = ?", project, id]);
  }

  /** Counts a write that changed nothing, without waiting for the engine. */
  async countWrite(project: number, { id, valueWrites }: Pick<PersonRow, "id" | "valueWrites">): Promise<void> {
    const sql = `UPDATE people SET value_writes = ?, ${COUNT_WRITE} WHERE project_id = ? AND id = ?`;
    this.database.send(sql, [valueWrites, project, id]);
  }

  /** Counts a STOP or START from a number as a write to its owner. */
  async countText(project: number, phoneNumber: string): Promise<void> {
    const sql = `UPDATE people SET ${COUNT_WRITE} WHERE project_id = ? AND phone_number = ?`;
    this.database.send(sql, [project, phoneNumber]);
  }

  /** Hides the person from every look-up, cancels their messages and frees their addresses. */
  async hide(project: number, id: number): Promise<void> {
    const person = await this.database.first(
      "SELECT phone_number FROM people WHERE project_id = ? AND id = ? AND removed = 0",
      [project, id],
    );
    if (person === null) return;
    const nothing = `removed = 1, email = NULL, email_key = NULL, name = NULL, phone_number = NULL, properties = NULL,
      bounced_at = NULL, unsubscribed_at = NULL, next_survey_at = NULL`;
    await updateRows(this.database, "people", [nothing], ["project_id = ? AND id = ?", project, id]);
    for (const table of ["resubscriptions", "memberships", "unscheduled_surveys"])
      this.database.send(`DELETE FROM ${table} WHERE project_id = ? AND person_id = ?`, [project, id]);
    if (person.phone_number !== null)
      this.database.send("DELETE FROM text_parts WHERE phone_number = ?", [person.phone_number ?? null]);
    // Events contain the person's addresses and answers.
    await deleteRows(this.database, "webhook_events", project, ["person_id = ?", id]);
    await deleteRequests(this.database, project, ["person_id = ? AND sent_at IS NULL", id]);
  }

  /** The person must have no responses or requests left. */
  async delete(project: number, id: number): Promise<void> {
    await deleteRows(this.database, "people", project, ["id = ?", id]);
  }

  async list(project: number, filter: PeopleFilter): Promise<JsonRows> {
    const where: Where = { clauses: ["project_id = ?", "removed = 0"], values: [project] };
    const { after, until, ids } = filter;
    if (ids !== undefined) addCondition(where, `id IN (${["NULL", ...ids.map(() => "?")].join(", ")})`, ...ids);
    // With two lower bounds, SQLite might pick the less selective one.
    const since = after !== null && after.createdAt >= (filter.since ?? after.createdAt) ? null : filter.since;
    addRange(where, "created_at", { since, until });
    if (after !== null) addCondition(where, "(created_at, id) > (?, ?)", after.createdAt, after.id);
    const row = filter.withProperties === true ? PERSON_JSON_WITH_PROPERTIES : PERSON_JSON;
    const sql = `SELECT ${row} AS json FROM people WHERE ${whereSql(where)} ORDER BY created_at, id LIMIT ?`;
    return (await this.database.all(sql, [...where.values, filter.limit])).map(({ json }) => String(json));
  }

  async listEvents(project: number, column: EventColumn, range: EventsFilter): Promise<JsonRows> {
    const { offset, limit } = range;
    const query = { list: peopleBy(project, column), range, other: null, descending: false, offset, limit };
    const slice = await findPage(this.database, query);
    if (slice === null) return [];
    const sql = `SELECT ${EVENT_JSON[column]} AS json FROM people WHERE ${whereSql(slice.where)} ORDER BY ${slice.order} LIMIT ? OFFSET ?`;
    const rows = await this.database.all(sql, [...slice.where.values, slice.limit, slice.offset]);
    return (slice.isReversed ? rows.toReversed() : rows).map(({ json }) => String(json));
  }

  async countEvents(project: number, column: EventColumn, range: TimeRange): Promise<number> {
    return countRows(this.database, peopleBy(project, column), range);
  }

  /** Replaces a note that has the same time. */
  async noteResubscription(project: number, id: number, { at, note }: Resubscription): Promise<void> {
    this.database.send(
      `INSERT INTO resubscriptions (project_id, person_id, at, note) VALUES (?, ?, ?, ?)
         ON CONFLICT (project_id, person_id, at) DO UPDATE SET note = excluded.note`,
      [project, id, at, note],
    );
  }

  async resubscriptions(project: number, id: number): Promise<readonly Resubscription[]> {
    return (await this.database.all(
      "SELECT at, note FROM resubscriptions WHERE project_id = ? AND person_id = ? ORDER BY at",
      [project, id],
    )) as unknown as readonly Resubscription[];
  }
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

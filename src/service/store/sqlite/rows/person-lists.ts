import type { EventsFilter, JsonRows, PeopleFilter } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { jsonNumber, jsonObject, jsonText } from "../sql/json-sql.ts";
import { addCondition, addRange, whereSql, type Where } from "../sql/where.ts";
import { peopleBy, type EventColumn } from "../lists/counted-lists.ts";
import type { ListBlocks } from "../lists/list-blocks.ts";
import { readPage } from "../lists/list-pages.ts";

const PERSON_JSON = jsonObject([
  ["id", `'"', id, '"'`],
  ["email", jsonText("email")],
  ["name", jsonText("name")],
  ["created_at", "created_at"],
  ["phone_number", jsonText("phone_number")],
  ["last_sent_at", jsonNumber("last_sent_at")],
  ["last_responded_at", jsonNumber("last_responded_at")],
  ["next_survey_scheduled_at", jsonNumber("next_survey_at")],
]);

export function listPeople(database: Database, project: number, filter: PeopleFilter): JsonRows {
  const where: Where = { clauses: ["project_id = ?", "removed = 0"], values: [project] };
  if (filter.id !== null) addCondition(where, "id = ?", filter.id);
  const { after, until } = filter;
  // Of two lower bounds SQLite might search by the farther one.
  const since = after !== null && after.createdAt >= (filter.since ?? after.createdAt) ? null : filter.since;
  addRange(where, "created_at", { since, until });
  if (after !== null) addCondition(where, "(created_at, id) > (?, ?)", after.createdAt, after.id);
  const sql = `SELECT ${PERSON_JSON} AS json FROM people WHERE ${whereSql(where)} ORDER BY created_at, id LIMIT ?`;
  return database.all(sql, [...where.values, filter.limit]).map(({ json }) => String(json));
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
export function listEvents(
  database: Database,
  blocks: ListBlocks,
  project: number,
  column: EventColumn,
  range: EventsFilter,
): JsonRows {
  const { offset, limit } = range;
  const query = { list: peopleBy(project, column), range, other: null, descending: false, offset, limit };
  return readPage(database, blocks, query, (slice) => {
    const sql = `SELECT ${EVENT_JSON[column]} AS json FROM people WHERE ${whereSql(slice.where)} ORDER BY ${slice.order} LIMIT ? OFFSET ?`;
    return database.all(sql, [...slice.where.values, slice.limit, slice.offset]).map(({ json }) => String(json));
  });
}

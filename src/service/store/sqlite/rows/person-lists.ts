import type { Bounce, Unsubscribe } from "../../../../contract/resources.ts";
import type { TimeRange } from "../../../domain/inputs.ts";
import type { EventsFilter, JsonRows, PeopleFilter } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { jsonNumber, jsonObject, jsonText } from "../sql/json-sql.ts";
import { planPage, type PageAnchors } from "./page-anchors.ts";
import { addCondition, addRange, whereSql, type Where } from "../sql/where.ts";

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
  const where: Where = { clauses: ["project_id = ?"], values: [project] };
  if (filter.id !== null) addCondition(where, "id = ?", filter.id);
  addRange(where, "created_at", filter);
  if (filter.after !== null) addCondition(where, "(created_at, id) > (?, ?)", filter.after.createdAt, filter.after.id);
  const sql = `SELECT ${PERSON_JSON} AS json FROM people WHERE ${whereSql(where)} ORDER BY created_at, id LIMIT ?`;
  return database.all(sql, [...where.values, filter.limit]).map(({ json }) => String(json));
}

export type EventColumn = "bounced_at" | "unsubscribed_at";

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
  anchors: PageAnchors,
  project: number,
  column: EventColumn,
  filter: EventsFilter,
): JsonRows {
  const where = eventsWhere(project, column, filter);
  const { offset, limit } = filter;
  const page = planPage(anchors, project, {
    name: "people",
    where,
    key: [column, "id"],
    descending: false,
    offset,
    limit,
  });
  const sql = `SELECT ${EVENT_JSON[column]} AS json FROM people WHERE ${page.where} ORDER BY ${page.order} LIMIT ? OFFSET ?`;
  return page.take(
    database.all(sql, page.values).map(({ json }) => String(json)),
    (row) => {
      const last = JSON.parse(row) as Bounce & Unsubscribe;
      return [last[column], Number(last.person_id)];
    },
  );
}

export function countEvents(database: Database, project: number, column: EventColumn, range: TimeRange): number {
  const where = eventsWhere(project, column, range);
  return Number(database.first(`SELECT count(*) AS count FROM people WHERE ${whereSql(where)}`, where.values)?.count);
}

function eventsWhere(project: number, column: EventColumn, range: TimeRange): Where {
  const where: Where = { clauses: ["project_id = ?", `${column} IS NOT NULL`], values: [project] };
  addRange(where, column, range);
  return where;
}

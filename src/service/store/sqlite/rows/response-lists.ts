import type { SurveyResponse } from "../../../../contract/resources.ts";
import type { JsonRows, ResponseShape, ResponsesFilter } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { jsonNumber, jsonObject, jsonText } from "../sql/json-sql.ts";
import { planPage, type Key, type PageAnchors } from "./page-anchors.ts";
import { addCondition, addRange, type Where } from "../sql/where.ts";

const EXPANDED_PERSON = jsonObject([
  ["id", `'"', p.id, '"'`],
  ["email", jsonText("p.email")],
  ["name", jsonText("p.name")],
  ["created_at", "p.created_at"],
  ["phone_number", jsonText("p.phone_number")],
]);

/** `SurveyResponse` out of a row `r`, and `p` where the person is expanded; one parameter, the permalink's prefix. */
function rowJson({ expandPerson, expandNotes }: ResponseShape): string {
  return jsonObject([
    ["id", `'"', r.id, '"'`],
    ["person", expandPerson ? EXPANDED_PERSON : `'"', r.person_id, '"'`],
    ["survey_type", jsonText("r.survey_type")],
    ["score", "r.score"],
    ["comment", jsonText("r.comment")],
    ["permalink", jsonText("? || r.token")],
    ["created_at", "r.created_at"],
    ["updated_at", jsonNumber("r.updated_at")],
    ["person_properties", "r.person_properties"],
    ["notes", expandNotes ? "r.notes" : "r.note_ids"],
    ["tags", "r.tags"],
    ["additional_answers", "r.additional_answers"],
  ]);
}

const WITH_PERSON = " CROSS JOIN people p ON p.project_id = r.project_id AND p.id = r.person_id";

export function responseJson(database: Database, project: number, id: number, shape: ResponseShape): string | null {
  const sql = `SELECT ${rowJson(shape)} AS json FROM responses r${shape.expandPerson ? WITH_PERSON : ""} WHERE r.project_id = ? AND r.id = ?`;
  const row = database.first(sql, [shape.permalinkPrefix, project, id]);
  return row === null ? null : String(row.json);
}

/** Where the list's keys lie: with a trend in its own table, which is ordered the same way. */
function source(filter: ResponsesFilter): { readonly tables: string; readonly alias: string; readonly id: string } {
  if (filter.trendId === null) return { tables: "responses r", alias: "r", id: "r.id" };
  const tables = "trend_responses t CROSS JOIN responses r ON r.project_id = t.project_id AND r.id = t.response_id";
  return { tables, alias: "t", id: "t.response_id" };
}

function responsesWhere(project: number, filter: ResponsesFilter, alias: string): Where {
  const where: Where = { clauses: [`${alias}.project_id = ?`], values: [project] };
  if (filter.trendId !== null) addCondition(where, "t.trend_id = ?", filter.trendId);
  if (filter.personId !== null) addCondition(where, "r.person_id = ?", filter.personId);
  addRange(where, `${alias}.created_at`, filter);
  addRange(where, `${alias}.updated_at`, { since: filter.updatedSince, until: filter.updatedUntil });
  return where;
}

export function listResponses(
  database: Database,
  anchors: PageAnchors,
  project: number,
  filter: ResponsesFilter,
  shape: ResponseShape,
): JsonRows {
  const { tables, alias, id } = source(filter);
  const time = filter.order.endsWith(":updated_at") ? "updated_at" : "created_at";
  const where = responsesWhere(project, filter, alias);
  const key: [string, string] = [`${alias}.${time}`, id];
  const { offset, limit } = filter;
  const page = planPage(anchors, project, {
    name: "responses",
    where,
    key,
    descending: filter.order.startsWith("desc"),
    offset,
    limit,
  });
  const people = shape.expandPerson ? WITH_PERSON : "";
  const sql = `SELECT ${rowJson(shape)} AS json FROM ${tables}${people} WHERE ${page.where} ORDER BY ${page.order} LIMIT ? OFFSET ?`;
  const rows = database.all(sql, [shape.permalinkPrefix, ...page.values]).map(({ json }) => String(json));
  return page.take(rows, (row) => keyOf(JSON.parse(row) as SurveyResponse, time));
}

function keyOf(last: SurveyResponse, time: "created_at" | "updated_at"): Key {
  return [last[time] ?? 0, Number(last.id)];
}

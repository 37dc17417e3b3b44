import type { JsonRows, ResponseShape, ResponsesFilter } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import { jsonNumber, jsonObject, jsonText } from "../sql/json-sql.ts";
import { addCondition, addRange, whereSql, type Where } from "../sql/where.ts";
import { responsesBy } from "../lists/counted-lists.ts";
import type { ListBlocks } from "../lists/list-blocks.ts";
import { readPage, type Slice } from "../lists/list-pages.ts";

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

const WITH_PERSON = " LEFT JOIN people p ON p.project_id = r.project_id AND p.id = r.person_id";

export function responseJson(database: Database, project: number, id: number, shape: ResponseShape): string | null {
  const people = shape.expandPerson ? WITH_PERSON : "";
  const sql = `SELECT ${rowJson(shape)} AS json FROM responses r${people} WHERE r.project_id = ? AND r.id = ?`;
  const row = database.first(sql, [shape.permalinkPrefix, project, id]);
  return row === null ? null : String(row.json);
}

export function listResponses(
  database: Database,
  blocks: ListBlocks,
  project: number,
  filter: ResponsesFilter,
  shape: ResponseShape,
): JsonRows {
  const { order, offset, limit, trendId } = filter;
  const time = order.endsWith(":updated_at") ? "updated_at" : "created_at";
  const ranges = { created_at: filter, updated_at: { since: filter.updatedSince, until: filter.updatedUntil } };
  const descending = order.startsWith("desc");
  const list = responsesBy(project, trendId, time);
  const fetch = (table: string, id: string, slice: Slice): JsonRows => {
    const sql = pageSql({ table, time, id, descending }, slice, shape);
    const values = [shape.permalinkPrefix, ...slice.where.values, slice.limit, slice.offset, project];
    return database.all(sql, values).map(({ json }) => String(json));
  };
  if (filter.personId !== null) {
    const where = personWhere(project, filter.personId, filter);
    const direction = descending ? "DESC" : "ASC";
    return fetch("responses", "id", { where, order: `${time} ${direction}, id ${direction}`, limit, offset });
  }
  const otherTime = time === "created_at" ? "updated_at" : "created_at";
  const { since, until } = ranges[otherTime];
  const other =
    since === null && until === null
      ? null
      : { range: ranges[otherTime], list: responsesBy(project, trendId, otherTime) };
  const query = { list, range: ranges[time], other, descending, offset, limit };
  return readPage(database, blocks, query, (slice) => fetch(list.table, list.key[1], slice));
}

/** First the keys, out of an index alone, then the rows: whatever is passed over is never read. */
function pageSql(
  source: { readonly table: string; readonly time: string; readonly id: string; readonly descending: boolean },
  { where, order }: Slice,
  shape: ResponseShape,
): string {
  const { table, time, id, descending } = source;
  const direction = descending ? "DESC" : "ASC";
  return `SELECT ${rowJson(shape)} AS json
    FROM (SELECT ${time} AS at, ${id} AS id FROM ${table} WHERE ${whereSql(where)} ORDER BY ${order} LIMIT ? OFFSET ?) k
    LEFT JOIN responses r ON r.project_id = ? AND r.id = k.id${shape.expandPerson ? WITH_PERSON : ""}
    ORDER BY k.at ${direction}, k.id ${direction}`;
}

/** One person's responses: few, so a trend among them is looked up for each. */
function personWhere(project: number, personId: number, filter: ResponsesFilter): Where {
  const where: Where = { clauses: ["project_id = ?", "person_id = ?"], values: [project, personId] };
  addRange(where, "created_at", filter);
  addRange(where, "+updated_at", { since: filter.updatedSince, until: filter.updatedUntil });
  if (filter.trendId === null) return where;
  const inTrend =
    "SELECT 1 FROM trend_responses t WHERE t.project_id = ? AND t.trend_id = ? AND t.response_id = responses.id";
  addCondition(where, `EXISTS (${inTrend})`, project, filter.trendId);
  return where;
}

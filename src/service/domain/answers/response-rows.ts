import type { AdditionalAnswer, Note, Properties } from "../../../contract/resources.ts";
import type { TimeRange, Project } from "../inputs.ts";
import { COUNT_WRITE } from "../people/person-columns.ts";
import { Rows } from "../../sql/rows.ts";
import { readRow } from "../../sql/columns.ts";
import { textOrNull } from "../../sql/database.ts";
import { responsesBy } from "../../sql/lists/counted-lists.ts";
import { addCondition, addRange, jsonObject, jsonText, type Where, whereSql } from "../../sql/lists/fragments.ts";
import { deleteRows, sendRow, updateRows } from "../../sql/lists/counted-rows.ts";
import { countScores } from "../../sql/lists/list-counts.ts";
import { findPage, type Slice } from "../../sql/lists/list-pages.ts";
import { assignResponse, RESPONSE, responseRow, type NewResponse } from "./response-columns.ts";
import type { ResponseOrder } from "../../../contract/routes.ts";
import type { ScoreTally } from "../../sql/lists/score-sums.ts";
import type { JsonRows } from "../rows.ts";

export interface ResponseShape {
  readonly expandPerson: boolean;
  readonly expandNotes: boolean;
  readonly permalinkPrefix: string;
}

export interface ResponsesFilter extends TimeRange {
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly personId: number | null;
  readonly trendId: number | null;
  readonly order: ResponseOrder;
  readonly offset: number;
  readonly limit: number;
}

export interface ResponseRow {
  readonly id: number;
  readonly personId: number;
  /** Usually `nps`. Imported rows can have other types, which metrics ignore. */
  readonly surveyType: string;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly tags: readonly string[];
  readonly additionalAnswers: readonly AdditionalAnswer[];
  readonly createdAt: number;
  readonly updatedAt: number;
  /** Null for responses from versions that didn't count. */
  readonly edits: number | null;
}

export interface NewNote {
  readonly text: string;
  readonly userEmail: string;
  readonly createdAt: number;
}

export type StoredResponseChange = Partial<
  Pick<ResponseRow, "personId" | "score" | "comment" | "personProperties" | "tags" | "additionalAnswers">
> & {
  readonly updatedAt: number;
  readonly isEdit?: boolean;
};

/** Changes only the responses themselves; `response-changes.ts` also updates what depends on them. */
export class ResponseRows extends Rows {
  async byId(project: number, id: number): Promise<ResponseRow | null> {
    const row = await this.database.first(BY_ID, [project, id]);
    if (row === null) return null;
    const { properties: personProperties = null, notes: _, noteIds: __, ...rest } = row;
    const json = ["personProperties", "tags", "additionalAnswers"] as const;
    return readRow<ResponseRow>({ ...rest, personProperties }, { json });
  }

  async insert(project: number, response: NewResponse): Promise<number> {
    const { personProperties, requestId, token, origin = null, ...fields } = response;
    const { personId, createdAt } = fields;
    const id = await this.nextId(project);
    const lists = { tags: "[]", additionalAnswers: "[]", notes: "[]", noteIds: "[]" };
    const row = { ...fields, id, surveyType: "nps", properties: JSON.stringify(personProperties), ...lists };
    sendRow(this.database, "responses", responseRow(project, row, { requestId, token, permalink: null, origin }));
    this.database.send(
      "UPDATE people SET last_responded_at = ? WHERE project_id = ? AND id = ? AND (last_responded_at IS NULL OR last_responded_at < ?)",
      [createdAt, project, personId, createdAt],
    );
    return id;
  }

  async update(project: number, id: number, change: StoredResponseChange): Promise<void> {
    const { personProperties, tags, additionalAnswers, isEdit = false, ...columns } = change;
    const [set, ...values] = assignResponse({
      ...columns,
      ...(personProperties !== undefined && { properties: JSON.stringify(personProperties) }),
      ...(tags !== undefined && { tags: JSON.stringify(tags) }),
      ...(additionalAnswers !== undefined && { additionalAnswers: JSON.stringify(additionalAnswers) }),
    });
    const all = isEdit ? `${set}, edits = edits + 1` : set;
    await updateRows(this.database, "responses", [all, ...values], ["project_id = ? AND id = ?", project, id]);
  }

  /** Counts a change to the same values. */
  async countEdit(project: number, id: number): Promise<void> {
    this.database.send("UPDATE responses SET edits = edits + 1 WHERE project_id = ? AND id = ?", [project, id]);
  }

  async delete(project: number, id: number): Promise<void> {
    await deleteRows(this.database, "responses", project, ["id = ?", id]);
  }

  /** Deletes a person's oldest responses. Returns when they were given, in Unix seconds. */
  async deleteSome(project: number, personId: number, limit: number): Promise<readonly number[]> {
    const ids = "SELECT id FROM responses WHERE project_id = ? AND person_id = ? ORDER BY id LIMIT ?";
    const where = [`id IN (${ids})`, project, personId, limit] as const;
    const deleted = await deleteRows(this.database, "responses", project, where);
    return deleted.map((row) => Number(row["created_at"]));
  }

  /** Also counts a write to each person. */
  async refreshLast(project: number, people: Iterable<number>): Promise<void> {
    for (const person of new Set(people))
      this.database.send(
        `UPDATE people SET last_responded_at =
           (SELECT max(r.created_at) FROM responses r WHERE r.project_id = people.project_id AND r.person_id = people.id), ${COUNT_WRITE}
         WHERE project_id = ? AND id = ?`,
        [project, person],
      );
  }

  async json(project: number, id: number, shape: ResponseShape): Promise<string | null> {
    const people = shape.expandPerson ? WITH_PERSON : "";
    const sql = `SELECT ${rowJson(shape)} AS json FROM responses r${people} WHERE r.project_id = ? AND r.id = ?`;
    const row = await this.database.first(sql, [permalinkStart(shape), project, id]);
    return textOrNull(row?.json);
  }

  /** Returns `SurveyResponse`s as JSON. Responses with equal times are ordered by id, in the same direction. */
  async list(project: number, filter: ResponsesFilter, shape: ResponseShape): Promise<JsonRows> {
    const { order, offset, limit, trendId } = filter;
    const time = order.endsWith(":updated_at") ? "updated_at" : "created_at";
    const ranges = { created_at: filter, updated_at: { since: filter.updatedSince, until: filter.updatedUntil } };
    const descending = order.startsWith("desc");
    const list = responsesBy(project, trendId, time);
    const fetch = async (table: string, id: string, slice: Slice): Promise<JsonRows> => {
      const isDirect = table === "responses" && !shape.expandPerson && slice.isIndexed;
      const sql = isDirect ? rowsSql(slice, shape) : joinedSql({ table, time, id, descending }, slice, shape);
      const values = [permalinkStart(shape), ...slice.where.values, slice.limit, slice.offset];
      const rows = await this.database.all(sql, isDirect ? values : [...values, project]);
      return (isDirect && slice.isReversed ? rows.toReversed() : rows).map(({ json }) => String(json));
    };
    if (filter.personId !== null) {
      const where = personWhere(project, filter.personId, filter);
      const direction = descending ? "DESC" : "ASC";
      const keys = `${time} ${direction}, id ${direction}`;
      const isIndexed = time === "created_at";
      return fetch("responses", "id", { where, order: keys, isIndexed, limit, offset, isReversed: false });
    }
    const otherTime = time === "created_at" ? "updated_at" : "created_at";
    const { since, until } = ranges[otherTime];
    const other =
      since === null && until === null
        ? null
        : { range: ranges[otherTime], list: responsesBy(project, trendId, otherTime) };
    const query = { list, range: ranges[time], other, descending, offset, limit };
    const slice = await findPage(this.database, query);
    return slice === null ? [] : fetch(list.table, list.key[1], slice);
  }

  async haveAnswers(project: number): Promise<boolean> {
    return (await this.database.first(ANSWERED, [project])) !== null;
  }

  /** Whether the person has another response that is newer (by id) than `after` and was stored at or after `since`. */
  async haveCome(project: number, personId: number, after: number, since: number): Promise<boolean> {
    return (await this.database.first(COME, [project, personId, after, since])) !== null;
  }

  async countScores(
    project: number,
    { trendId, ...range }: TimeRange & { readonly trendId: number | null },
  ): Promise<ScoreTally> {
    return countScores(this.database, responsesBy(project, trendId, "created_at"), range);
  }

  async countByLinks(
    project: number,
    { trendId, ...range }: TimeRange & { readonly trendId: number | null },
  ): Promise<number> {
    const where: Where = { clauses: ["r.project_id = ?", "r.origin = 'link'"], values: [project] };
    addRange(where, "r.created_at", range);
    if (trendId !== null) addCondition(where, IN_TREND, trendId);
    const sql = `SELECT count(*) AS n FROM responses r WHERE ${whereSql(where)}`;
    return Number((await this.database.first(sql, where.values))?.n ?? 0);
  }

  async addNote(project: number, responseId: number, { text, userEmail, createdAt }: NewNote): Promise<string> {
    const sql = "SELECT notes, note_ids AS ids FROM responses WHERE project_id = ? AND id = ?";
    const row = await this.database.first(sql, [project, responseId]);
    if (row === null) throw new Error(`project ${project} has no response ${responseId}`);
    const id = String(await this.nextId(project));
    const note: Note = { id, text, user_email: userEmail, created_at: createdAt };
    const notes = JSON.stringify([...(JSON.parse(String(row.notes)) as Note[]), note]);
    const ids = JSON.stringify([...(JSON.parse(String(row.ids)) as string[]), id]);
    const change = "UPDATE responses SET notes = ?, note_ids = ? WHERE project_id = ? AND id = ?";
    this.database.send(change, [notes, ids, project, responseId]);
    return id;
  }

  /** Finds the response that a permalink shows, in any project. */
  async byToken(token: string): Promise<{ readonly project: Project; readonly id: number } | null> {
    const row = await this.database.first(BY_TOKEN, [token]);
    return row === null ? null : readRow<{ readonly project: Project; readonly id: number }>(row);
  }

  async token(project: number, id: number): Promise<string | null> {
    const sql = "SELECT token FROM responses WHERE project_id = ? AND id = ?";
    return textOrNull((await this.database.first(sql, [project, id]))?.token);
  }
}

/** The unary `+` makes the engine search the person's few responses instead of all new ones. */
const COME = `SELECT 1 FROM responses r WHERE r.project_id = ? AND r.person_id = ? AND +r.id > ? AND +r.updated_at >= ?
  LIMIT 1`;
const BY_TOKEN = `SELECT p.id AS "project.id", p.name AS "project.name", r.id
  FROM responses r JOIN projects p ON p.id = r.project_id WHERE r.token = ?`;
const ANSWERED = "SELECT 1 FROM responses WHERE project_id = ? AND additional_answers <> '[]' LIMIT 1";
const BY_ID = `${RESPONSE} AND id = ?`;

const IN_TREND = `EXISTS (SELECT 1 FROM trend_responses t
  WHERE t.project_id = r.project_id AND t.response_id = r.id AND t.trend_id = ?)`;

const EXPANDED_PERSON = jsonObject([
  ["id", `'"', p.id, '"'`],
  ["email", jsonText("p.email")],
  ["name", jsonText("p.name")],
  ["created_at", "p.created_at"],
  ["phone_number", jsonText("p.phone_number")],
]);

/** Renders a row `r`, and `p` if the person is expanded. Has one parameter: `permalinkStart`. */
function rowJson({ expandPerson, expandNotes }: ResponseShape): string {
  return jsonObject([
    ["id", `'"', r.id, '"'`],
    ["person", expandPerson ? EXPANDED_PERSON : `'"', r.person_id, '"'`],
    ["survey_type", jsonText("r.survey_type")],
    ["score", "r.score"],
    ["comment", jsonText("r.comment")],
    ["permalink", "CAST(? AS TEXT), r.token, '\"'"],
    ["created_at", "r.created_at"],
    ["updated_at", "r.updated_at"],
    ["person_properties", "r.person_properties"],
    ["notes", expandNotes ? "r.notes" : "r.note_ids"],
    ["tags", "r.tags"],
    ["additional_answers", "r.additional_answers"],
  ]);
}

/** The JSON of a permalink up to its token, quoted once; tokens need no escaping. */
function permalinkStart({ permalinkPrefix }: ResponseShape): string {
  return JSON.stringify(permalinkPrefix).slice(0, -1);
}

const WITH_PERSON = " LEFT JOIN people p ON p.project_id = r.project_id AND p.id = r.person_id";

/** SQLite follows the index's row pointers, which is a third faster than looking rows up by key. */
function rowsSql({ where, order }: Slice, shape: ResponseShape): string {
  return `SELECT ${rowJson(shape)} AS json FROM responses r WHERE ${whereSql(where)} ORDER BY ${order} LIMIT ? OFFSET ?`;
}

/** Selects keys through an index first, so that skipped rows aren't joined. */
function joinedSql(
  source: { readonly table: string; readonly time: string; readonly id: string; readonly descending: boolean },
  { where, order }: Slice,
  shape: ResponseShape,
): string {
  const { table, time, id, descending } = source;
  const direction = descending ? "DESC" : "ASC";
  return `SELECT ${rowJson(shape)} AS json
    FROM (SELECT ${time} AS at, ${id} AS id FROM ${table} r WHERE ${whereSql(where)} ORDER BY ${order} LIMIT ? OFFSET ?) k
    LEFT JOIN responses r ON r.project_id = ? AND r.id = k.id${shape.expandPerson ? WITH_PERSON : ""}
    ORDER BY k.at ${direction}, k.id ${direction}`;
}

/** A person has few responses, so each is checked against the trend. */
function personWhere(project: number, personId: number, filter: ResponsesFilter): Where {
  const where: Where = { clauses: ["project_id = ?", "person_id = ?"], values: [project, personId] };
  addRange(where, "created_at", filter);
  addRange(where, "+updated_at", { since: filter.updatedSince, until: filter.updatedUntil });
  if (filter.trendId === null) return where;
  const inTrend = "SELECT 1 FROM trend_responses t WHERE t.project_id = ? AND t.trend_id = ? AND t.response_id = r.id";
  addCondition(where, `EXISTS (${inTrend})`, project, filter.trendId);
  return where;
}

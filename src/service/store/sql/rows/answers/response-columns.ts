/** The columns of responses, and the statements that they make. */
import type { StoredPastResponse } from "../../../../domain/history/rows.ts";
import type { NewResponse } from "../../../../domain/ports.ts";
import type { SqlValue } from "../../database.ts";
import { assign, insertSql, selectList } from "../columns.ts";

/** A response as it is stored: maps and arrays are JSON texts. */
const COLUMNS: Readonly<Record<keyof StoredPastResponse, string>> = {
  id: "id",
  personId: "person_id",
  surveyType: "survey_type",
  score: "score",
  comment: "comment",
  createdAt: "created_at",
  updatedAt: "updated_at",
  properties: "person_properties",
  tags: "tags",
  additionalAnswers: "additional_answers",
  notes: "notes",
  noteIds: "note_ids",
};
const FIELDS = Object.keys(COLUMNS) as (keyof StoredPastResponse)[];

export const RESPONSE = `SELECT ${selectList(COLUMNS)} FROM responses WHERE project_id = ?`;

/** Columns besides, which only an insert has. */
export interface ResponseOrigin {
  readonly requestId: number | null;
  readonly token: string;
  /** The address at which another service showed it. */
  readonly permalink: string | null;
  readonly origin: Exclude<NewResponse["origin"], undefined> | null;
}

const INSERT = insertSql("responses", [
  "project_id",
  "request_id",
  "token",
  "imported_permalink",
  "origin",
  ...Object.values(COLUMNS),
]);

export function insertResponseSql(
  project: number,
  row: StoredPastResponse,
  { requestId, token, permalink, origin }: ResponseOrigin,
): readonly [sql: string, values: SqlValue[]] {
  return [INSERT, [project, requestId, token, permalink, origin, ...FIELDS.map((field) => row[field])]];
}

/** Changes the fields that are named; a null `permalink` leaves the one that is there. */
export function updateResponseSql(
  project: number,
  id: number,
  change: Partial<Omit<StoredPastResponse, "id">>,
  permalink: string | null = null,
): readonly [sql: string, values: SqlValue[]] {
  const { sets, values } = assign(COLUMNS, change);
  const sql = `UPDATE responses SET ${sets}, imported_permalink = coalesce(?, imported_permalink)
    WHERE project_id = ? AND id = ?`;
  return [sql, [...values, permalink, project, id]];
}

import type { Properties } from "../../../contract/resources.ts";
/** The columns of responses, and the statements that they make. */
import type { StoredPastResponse } from "../history/rows.ts";
import type { Fragment, NewRow } from "../../sql/lists/counted-rows.ts";
import { assign, renameFields, selectList } from "../../sql/columns.ts";

export interface NewResponse {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly personId: number;
  /** Absent: `nps`. */
  readonly surveyType?: string;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly token: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The request that it answers, if one. */
  readonly requestId: number | null;
  /** `link` where it came by a public link; absent: by a survey, or through the API. */
  readonly origin?: "link";
  readonly tags?: readonly string[];
  /** JSON array of additional answers, as the specification shapes them. */
  readonly additionalAnswers?: string;
}

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
export const RESPONSE = `SELECT ${selectList(COLUMNS)} FROM responses WHERE project_id = ?`;

/** Columns besides, which only an insert has. */
export interface ResponseOrigin {
  readonly requestId: number | null;
  readonly token: string;
  /** The address at which another service showed it. */
  readonly permalink: string | null;
  readonly origin: Exclude<NewResponse["origin"], undefined> | null;
}

export function responseRow(
  project: number,
  row: StoredPastResponse,
  { requestId, token, permalink, origin }: ResponseOrigin,
): NewRow {
  const given = { project_id: project, request_id: requestId, token, imported_permalink: permalink, origin };
  return { ...given, ...renameFields(COLUMNS, row) };
}

/** Assigns the fields that are named; a null `permalink` leaves the one that is there. */
export function assignResponse(
  change: Partial<Omit<StoredPastResponse, "id">>,
  permalink: string | null = null,
): Fragment {
  const { sets, values } = assign(COLUMNS, change);
  return [`${sets}, imported_permalink = coalesce(?, imported_permalink)`, ...values, permalink];
}

import type { Properties } from "../../../contract/resources.ts";
import type { Fragment, NewRow } from "../../sql/lists/counted-rows.ts";
import { assign, renameFields, selectList } from "../../sql/columns.ts";

export interface NewResponse {
  readonly personId: number;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly token: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly requestId: number | null;
  /** Undefined unless the response came through a public link. */
  readonly origin?: "link";
}

export interface StoredPastResponse {
  readonly id: number;
  readonly personId: number;
  readonly surveyType: string;
  readonly score: number;
  readonly comment: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  readonly properties: string;
  readonly tags: string;
  readonly additionalAnswers: string;
  readonly notes: string;
  readonly noteIds: string;
}

export type NewPastResponse = StoredPastResponse & {
  /** The response's address at the service that it was imported from. */
  readonly permalink?: string;
};

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
export const RESPONSE = `SELECT ${selectList(COLUMNS)}, edits FROM responses WHERE project_id = ?`;

export interface ResponseOrigin {
  readonly requestId: number | null;
  readonly token: string;
  readonly permalink: string | null;
  readonly origin: Exclude<NewResponse["origin"], undefined> | null;
}

export function responseRow(
  project: number,
  row: StoredPastResponse,
  { requestId, token, permalink, origin }: ResponseOrigin,
): NewRow {
  const given = { project_id: project, request_id: requestId, token, imported_permalink: permalink, origin, edits: 0 };
  return { ...given, ...renameFields(COLUMNS, row) };
}

/** Assigns the given fields. A null `permalink` keeps the stored one. */
export function assignResponse(
  change: Partial<Omit<StoredPastResponse, "id">>,
  permalink: string | null = null,
): Fragment {
  const { sets, values } = assign(COLUMNS, change);
  return [`${sets}, imported_permalink = coalesce(?, imported_permalink)`, ...values, permalink];
}

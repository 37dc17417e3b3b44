import { OF_PERSON, OF_PROJECT, type Table } from "../table.ts";

/**
 * `notes` and `note_ids` are JSON arrays, one for each form in which lists show notes; looking notes up per row would
 * take twice as long. `imported_permalink` is the response's address at the service it was imported from. Indexes by
 * time contain every column that selects a page. `origin` is `link` for responses from a public link. `edits` counts
 * changes through the API, and is NULL for responses of versions that didn't count.
 */
const RESPONSES: Table = {
  name: "responses",
  columns: `project_id int, id int, person_id int, request_id int?, survey_type text = 'nps', score int,
    comment text?, token text, created_at int, updated_at int, person_properties text, tags text = '[]',
    additional_answers text = '[]', notes text = '[]', note_ids text = '[]',
    imported_permalink text?, origin text?, edits int?`,
  key: "project_id, id",
  references: [OF_PERSON],
  indexes: {
    responses_by_person: "(project_id, person_id, created_at, id)",
    responses_by_request: "(project_id, request_id) WHERE request_id IS NOT NULL",
    responses_by_update: "(project_id, updated_at, id, created_at)",
    responses_by_creation: "(project_id, created_at, id, score, survey_type, updated_at)",
    responses_by_token: "(token)",
    responses_by_origin: "(project_id, origin, created_at, id) WHERE origin IS NOT NULL",
    responses_with_answers: "(project_id) WHERE additional_answers <> '[]'",
  },
};

/** `trend_responses` has one row per response in a trend, which gives trends the same indexes as other lists. */
const TRENDS: readonly Table[] = [
  {
    name: "trends",
    columns: `project_id int, id int, name text, created_at int, state text = 'filled'`,
    key: "project_id, id",
    references: [OF_PROJECT],
  },
  {
    name: "trend_conditions",
    columns: `project_id int, trend_id int, key text, value text`,
    key: "project_id, trend_id, key",
    references: ["(project_id, trend_id) REFERENCES trends (project_id, id) ON DELETE CASCADE"],
  },
  {
    name: "trend_responses",
    columns: `project_id int, trend_id int, response_id int, created_at int, updated_at int, score int,
      survey_type text = 'nps'`,
    key: "project_id, trend_id, response_id",
    references: [
      "(project_id, response_id) REFERENCES responses (project_id, id) ON DELETE CASCADE",
      "(project_id, trend_id) REFERENCES trends (project_id, id) ON DELETE CASCADE",
    ],
    indexes: {
      trend_responses_by_update: "(project_id, trend_id, updated_at, response_id, created_at)",
      // Includes the trend; otherwise SQLite prefers to scan another index completely.
      trend_responses_by_response: "(project_id, response_id, trend_id)",
      trend_responses_by_creation: "(project_id, trend_id, created_at, response_id, score, survey_type, updated_at)",
    },
  },
];

/**
 * How many rows a list has in the `span` UTC days that begin `number * span` days after 1 January 1970. `span` is 0 for
 * lists without days. See `counted-lists.ts`.
 */
export const ROW_COUNTS: Table = {
  name: "row_counts",
  isClustered: true,
  columns: `project_id int, span int, list text, number int, n int, promoters int, passives int, detractors int`,
  key: "project_id, span, list, number",
  storage: "fillfactor = 50",
};

const SHARES: readonly Table[] = [
  /** `segments` is a JSON array of properties. `token` is a hash. */
  {
    name: "shares",
    columns: `project_id int, id int, name text, token_hash text, trend_id int?, segments text, shows_comments int,
      created_at int, expires_at int?`,
    key: "project_id, id",
    references: [OF_PROJECT],
    indexes: { shares_by_token: "(token_hash)" },
  },
  /** `tally` is JSON. Changing a response deletes its day's row, and the day is counted again when needed. */
  {
    name: "share_days",
    isClustered: true,
    columns: "project_id int, day int, share_id int, tally text",
    key: "project_id, day, share_id",
    references: ["(project_id, share_id) REFERENCES shares (project_id, id) ON DELETE CASCADE"],
    indexes: { share_days_by_share: "(project_id, share_id, day)" },
  },
];

export const ANSWER_TABLES: readonly Table[] = [RESPONSES, ...TRENDS, ROW_COUNTS, ...SHARES];

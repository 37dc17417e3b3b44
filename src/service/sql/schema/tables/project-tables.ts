import { OF_PROJECT, type Table } from "../table.ts";

/**
 * Who did what. Lines outlive their project, so they store its name and reference no row. `name` is the name of the key
 * or, without `key_id`, of the system's user. `result` is JSON.
 */
export const OPERATION_LOG: Table = {
  name: "operation_log",
  columns: `project_id int, id int, at int, project text, operation text, key_id int?, name text?, what text, result text?`,
  key: "project_id, id",
  indexes: { operation_log_by_time: "(project_id, at)" },
};

/** Tables that belong to the whole store. */
const STORE: readonly Table[] = [
  { name: "store_secrets", columns: `name text, value text`, key: "name" },
  /** See `StoreMark`. */
  { name: "store_marks", columns: `name text, value text`, key: "name" },
  { name: "upkeep_state", columns: `name text, value text`, key: "name" },
  /** Processes that deliver messages from this database, and when each was last seen. */
  { name: "processes", columns: `name text, seen_at int`, key: "name" },
];

export const PROJECT_TABLES: readonly Table[] = [
  ...STORE,
  {
    name: "projects",
    columns: `id int, name text, created_at int, throttle_seconds int?, paused_at int?, limited_until int?`,
    key: "id",
    indexes: { projects_by_name: "UNIQUE (name)" },
  },
  /** Small, and separate from `projects`, because every write updates it. */
  {
    name: "project_state",
    columns: `project_id int, next_id int, clock int, version int`,
    key: "project_id",
    storage: "fillfactor = 20",
  },
  /** Revoked keys are kept to tell them apart from unknown ones. `last_used_on` is a UTC day such as `2026-11-26`. */
  {
    name: "api_keys",
    columns: `project_id int, id int, hash text, last_four text, created_at int, name text?, access text = 'full',
      expires_at int?, revoked_at int?, last_used_on text?`,
    key: "project_id, id",
    references: [OF_PROJECT],
    indexes: { api_keys_by_hash: "UNIQUE (hash)" },
  },
  {
    name: "project_settings",
    columns: `project_id int, name text, value text`,
    key: "project_id, name",
    references: [OF_PROJECT],
  },
  /** Public links; their `properties` are copied to the responses. */
  {
    name: "survey_links",
    columns: `project_id int, id int, name text, token text, properties text, created_at int`,
    key: "project_id, id",
    references: [OF_PROJECT],
    indexes: { survey_links_by_token: "(token)" },
  },
  /** Follow-up questions. Retired ones are kept, because ids aren't reused. */
  {
    name: "questions",
    columns: `project_id int, id text, type text, text text, choices text = '[]', last_choice int = 0, scale text?,
      scores text?, texts text = '{}', position int?, retired_at int?`,
    key: "project_id, id",
    references: [OF_PROJECT],
  },
  {
    name: "digests",
    columns: `project_id int, id int, email text, email_key text, token text, weekday int, minute int, zone text?,
      created_at int, unsubscribed_at int?, allow_private int = 0`,
    key: "project_id, id",
    references: [OF_PROJECT],
    indexes: { digests_by_email: "UNIQUE (project_id, email_key)", digests_by_token: "(token)" },
  },
  /** The progress of long changes. */
  {
    name: "long_changes",
    columns: `project_id int, kind text, target text, done_to int`,
    key: "project_id, kind, target",
    references: [OF_PROJECT],
  },
  OPERATION_LOG,
];

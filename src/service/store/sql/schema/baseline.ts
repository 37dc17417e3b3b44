/**
 * The schema of an empty store as data, for every engine: what the numbered migrations have made of a data file by
 * `BASELINE`. Later migrations follow on it, so it needs no change with them. Tests compare the two. Made at once it
 * costs a new data file 15 ms of processor time, step by step 36.
 */

/** The migration whose schema this is. */
export const BASELINE = 17;

export interface BaselineTable {
  readonly name: string;
  /** `name type`, with `?` where it may be null, and `= value` for its default; `int` has 64 bits. */
  readonly columns: string;
  readonly key: string;
  readonly references?: readonly string[];
  /** Its rows lie in the order of the key, where an engine has such tables. */
  readonly isClustered?: boolean;
  /** What PostgreSQL is told of a table whose rows change often. */
  readonly storage?: string;
}

/** How an engine spells the two types, and what it adds behind a table. */
export interface SchemaDialect {
  readonly int: string;
  readonly text: string;
  readonly behind: (table: BaselineTable) => string;
}

const TABLES: readonly BaselineTable[] = [
  {
    name: "projects",
    columns: `id int, name text, created_at int, throttle_seconds int?, paused_at int?`,
    key: "id",
  },
  {
    name: "api_keys",
    columns: `project_id int, id int, hash text, last_four text, created_at int`,
    key: "project_id, id",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "people",
    columns: `project_id int, id int, email text?, email_key text?, name text?, phone_number text?,
      created_at int, last_sent_at int?, last_responded_at int?, next_survey_at int?, bounced_at int?,
      unsubscribed_at int?, removed int = 0`,
    key: "project_id, id",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "survey_requests",
    columns: `project_id int, id int, person_id int, channel text, autopilot int, state text,
      created_at int, scheduled_at int, due_at int?, claimer text?, attempts int = 0, sent_at int?,
      properties text, token text, claims int = 0, first_attempt_at int?, transmitting_at int?,
      reason text?, message_id text?, frozen text?, unsubscribe_token text?, bounce_token text?,
      page_facts text?`,
    key: "project_id, id",
    references: ["(project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE"],
    storage: "autovacuum_vacuum_scale_factor = 0.02",
  },
  {
    name: "responses",
    columns: `project_id int, id int, person_id int, request_id int?, survey_type text = 'nps', score int,
      comment text?, token text, created_at int, updated_at int, person_properties text, tags text = '[]',
      additional_answers text = '[]', notes text = '[]', note_ids text = '[]',
      imported_permalink text?`,
    key: "project_id, id",
    references: ["(project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE"],
  },
  {
    name: "trends",
    columns: `project_id int, id int, name text, created_at int, state text = 'filled'`,
    key: "project_id, id",
    references: ["(project_id) REFERENCES projects (id)"],
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
  },
  {
    name: "autopilot_configurations",
    columns: `project_id int, platform text, active int, frequency int, created_at int, updated_at int`,
    key: "project_id, platform",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "memberships",
    columns: `project_id int, platform text, person_id int, created_at int, updated_at int,
      properties text, next_request_id int?`,
    key: "project_id, platform, person_id",
    references: ["(project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE"],
  },
  {
    name: "store_secrets",
    columns: `name text, value text`,
    key: "name",
  },
  {
    name: "suppressions",
    columns: `project_id int, channel text, address_hash text, reason text, created_at int`,
    key: "project_id, channel, address_hash, reason",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "erased_surveys",
    columns: `token text, project_id int, request_id int, channel text`,
    key: "token",
  },
  {
    name: "list_blocks",
    isClustered: true,
    columns: `project_id int, list text, first_at int, first_id int, row_count int, promoters int,
      detractors int, least_other int, most_other int, unscored int = 0`,
    key: "project_id, list, first_at, first_id",
  },
  {
    name: "long_changes",
    columns: `project_id int, kind text, target text, done_to int`,
    key: "project_id, kind, target",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "delivery_attempts",
    isClustered: true,
    columns: `project_id int, request_id int, n int, at int, stage text, code int?, enhanced_code text?,
      text text?, remote_host text?, server_id text?, ms int, outcome text`,
    key: "project_id, request_id, n",
    references: ["(project_id, request_id) REFERENCES survey_requests (project_id, id) ON DELETE CASCADE"],
  },
  {
    name: "delivery_state",
    columns: `name text, value text`,
    key: "name",
  },
  {
    name: "project_settings",
    columns: `project_id int, name text, value text`,
    key: "project_id, name",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "delivery_reports",
    isClustered: true,
    columns: `source text, id text, at int`,
    key: "source, id",
  },
  {
    name: "survey_links",
    columns: `project_id int, id int, name text, token text, properties text, created_at int`,
    key: "project_id, id",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "webhooks",
    isClustered: true,
    columns: `project_id int, id int, url text, secret text, previous_secret text?, previous_until int?,
      signature_header text, allow_private int, insecure_http int, events text, score_from int?,
      score_to int?, format text, created_at int, disabled_at int?, disabled_reason text?,
      failing_since int?, strikes int = 0, slow_until int?, last_delivered_at int?, missed int = 0`,
    key: "project_id, id",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "project_state",
    columns: `project_id int, next_id int, clock int, version int`,
    key: "project_id",
    storage: "fillfactor = 20",
  },
  {
    name: "webhook_events",
    columns: `project_id int, id int, event_id text, type text, person_id int, created_at int, json text?,
      slack text?`,
    key: "project_id, id",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "webhook_deliveries",
    isClustered: true,
    columns: `project_id int, webhook_id int, event int, state text, attempts int = 0, due_at int?`,
    key: "project_id, webhook_id, event",
    references: ["(project_id, event) REFERENCES webhook_events (project_id, id) ON DELETE CASCADE"],
  },
  {
    name: "webhook_attempts",
    isClustered: true,
    columns: `project_id int, webhook_id int, event int, n int, at int, status int?, ms int, text text`,
    key: "project_id, webhook_id, event, n",
    references: [
      "(project_id, webhook_id, event) REFERENCES webhook_deliveries (project_id, webhook_id, event) ON DELETE CASCADE",
    ],
  },
  {
    name: "erasures",
    isClustered: true,
    columns: `project_id int, hash text, at int`,
    key: "project_id, hash",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  {
    name: "erased_links",
    isClustered: true,
    columns: `project_id int, hash text, channel text, address_hash text`,
    key: "project_id, hash",
    references: ["(project_id) REFERENCES projects (id)"],
  },
  { name: "upkeep_state", columns: `name text, value text`, key: "name" },
  { name: "store_marks", columns: `name text, value text`, key: "name" },
  {
    name: "text_replies",
    isClustered: true,
    columns: `project_id int, id int, request_id int, kind text, key text, score int?, created_at int,
      due_at int?, attempts int = 0, outcome text?`,
    key: "project_id, id",
    references: ["(project_id, request_id) REFERENCES survey_requests (project_id, id) ON DELETE CASCADE"],
  },
  {
    name: "text_parts",
    isClustered: true,
    columns: `phone_number text, reference text, n int, total int, text text, at int`,
    key: "phone_number, reference, n",
  },
  {
    name: "text_segments",
    isClustered: true,
    columns: `project_id int, day text, n int`,
    key: "project_id, day",
    references: ["(project_id) REFERENCES projects (id)"],
  },
];

/** `UNIQUE` before the table where no two rows may be alike. */
const INDEXES: Readonly<Record<string, string>> = {
  projects_by_name: "UNIQUE projects (name)",
  api_keys_by_hash: "UNIQUE api_keys (hash)",
  people_by_email: "UNIQUE people (project_id, email_key)",
  people_by_phone: "UNIQUE people (project_id, phone_number)",
  people_by_creation: "people (project_id, created_at, id)",
  people_by_bounce: "people (project_id, bounced_at, id) WHERE bounced_at IS NOT NULL",
  people_by_unsubscribe: "people (project_id, unsubscribed_at, id) WHERE unsubscribed_at IS NOT NULL",
  survey_requests_by_person: "survey_requests (project_id, person_id)",
  responses_by_person: "responses (project_id, person_id, created_at, id)",
  responses_by_request: "responses (project_id, request_id) WHERE request_id IS NOT NULL",
  memberships_by_creation: "memberships (project_id, platform, created_at, person_id)",
  memberships_by_person: "memberships (project_id, person_id)",
  responses_by_update: "responses (project_id, updated_at, id, created_at)",
  trend_responses_by_update: "trend_responses (project_id, trend_id, updated_at, response_id, created_at)",
  trend_responses_by_response: "trend_responses (project_id, response_id, trend_id)",
  survey_requests_by_sent: "survey_requests (project_id, channel, sent_at, id) WHERE sent_at IS NOT NULL",
  survey_requests_by_due: "survey_requests (project_id, channel, due_at, id) WHERE due_at IS NOT NULL",
  survey_requests_by_claimer: "survey_requests (claimer, project_id, id) WHERE claimer IS NOT NULL",
  survey_requests_by_state: "survey_requests (project_id, state, id)",
  survey_requests_by_message_id: "survey_requests (message_id) WHERE message_id IS NOT NULL",
  delivery_attempts_by_time: "delivery_attempts (at) WHERE outcome <> 'bounced'",
  delivery_reports_by_time: "delivery_reports (at)",
  delivery_attempts_by_soft: "delivery_attempts (project_id, request_id) WHERE outcome = 'soft'",
  responses_by_creation: "responses (project_id, created_at, id, score, survey_type, updated_at)",
  trend_responses_by_creation:
    "trend_responses (project_id, trend_id, created_at, response_id, score, survey_type, updated_at)",
  survey_requests_by_token: "survey_requests (token)",
  survey_requests_by_unsubscribe_token: "survey_requests (unsubscribe_token)",
  survey_requests_by_bounce_token: "survey_requests (bounce_token) WHERE bounce_token IS NOT NULL",
  responses_by_token: "responses (token)",
  survey_links_by_token: "survey_links (token)",
  webhook_events_by_event_id: "UNIQUE webhook_events (project_id, event_id)",
  webhook_events_by_person: "webhook_events (project_id, person_id)",
  webhook_events_by_creation: "webhook_events (project_id, created_at, id)",
  webhook_deliveries_by_event: "webhook_deliveries (project_id, event)",
  webhook_deliveries_by_due: "webhook_deliveries (project_id, webhook_id, due_at, event) WHERE due_at IS NOT NULL",
  webhook_deliveries_by_state: "webhook_deliveries (project_id, webhook_id, state, event)",
  erased_links_by_hash: "erased_links (hash)",
  erased_links_by_address: "erased_links (project_id, address_hash)",
  text_replies_by_request: "text_replies (project_id, request_id, kind)",
  text_replies_by_due: "text_replies (due_at) WHERE due_at IS NOT NULL",
  text_replies_by_taken: "text_replies (project_id, id) WHERE due_at IS NULL AND outcome IS NULL",
  text_replies_by_creation: "text_replies (created_at)",
  text_parts_by_time: "text_parts (at)",
};

/** The row of writes that name no project. */
const STATE = "INSERT INTO project_state (project_id, next_id, clock, version) VALUES (0, 1, 0, 0)";

/** The statements that make it, without what an engine keeps counts with. */
export function createBaseline(dialect: SchemaDialect): readonly string[] {
  return [...TABLES.map((table) => createTable(table, dialect)), ...Object.entries(INDEXES).map(createIndex), STATE];
}

function createTable(table: BaselineTable, dialect: SchemaDialect): string {
  const { name, columns, key, references = [] } = table;
  const parts = columns.split(/,\s+/).map((column) => {
    const [, title = "", type = "", isOpen, value] = /^(\w+) (int|text)(\?)?(?: = (.+))?$/.exec(column) ?? [];
    const rest = `${isOpen === undefined ? " NOT NULL" : ""}${value === undefined ? "" : ` DEFAULT ${value}`}`;
    return `${title} ${dialect[type as "int" | "text"]}${rest}`;
  });
  const all = [...parts, `PRIMARY KEY (${key})`, ...references.map((reference) => `FOREIGN KEY ${reference}`)];
  return `CREATE TABLE ${name} (${all.join(", ")})${dialect.behind(table)}`;
}

function createIndex([name, columns]: readonly [string, string]): string {
  const isUnique = columns.startsWith("UNIQUE ");
  return `CREATE ${isUnique ? "UNIQUE " : ""}INDEX ${name} ON ${columns.replace("UNIQUE ", "")}`;
}

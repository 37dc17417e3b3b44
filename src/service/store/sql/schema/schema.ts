/**
 * The tables. Every row belongs to a project and is counted from 1 within it, so no id tells anything about
 * another project. Times are Unix seconds, maps and arrays JSON text, booleans 0 or 1.
 * Each list, filter and look-up has an index that begins with the project.
 */
const PROJECTS = [
  `CREATE TABLE projects (
    id INTEGER NOT NULL PRIMARY KEY,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    throttle_seconds INTEGER,
    next_id INTEGER NOT NULL DEFAULT 1
  )`,
  "CREATE UNIQUE INDEX projects_by_name ON projects (name)",
  `CREATE TABLE api_keys (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    hash TEXT NOT NULL,
    last_four TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, id)
  )`,
  "CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash)",
];

const PEOPLE = [
  `CREATE TABLE people (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    email TEXT,
    email_key TEXT,
    name TEXT,
    phone_number TEXT,
    created_at INTEGER NOT NULL,
    last_sent_at INTEGER,
    last_responded_at INTEGER,
    next_survey_at INTEGER,
    bounced_at INTEGER,
    unsubscribed_at INTEGER,
    PRIMARY KEY (project_id, id)
  )`,
  "CREATE UNIQUE INDEX people_by_email ON people (project_id, email_key)",
  "CREATE UNIQUE INDEX people_by_phone ON people (project_id, phone_number)",
  "CREATE INDEX people_by_creation ON people (project_id, created_at, id)",
  "CREATE INDEX people_by_bounce ON people (project_id, bounced_at, id) WHERE bounced_at IS NOT NULL",
  "CREATE INDEX people_by_unsubscribe ON people (project_id, unsubscribed_at, id) WHERE unsubscribed_at IS NOT NULL",
];

/**
 * `state` was waiting, paused (its Autopilot is inactive), sent, failed or cancelled at first; `delivery-schema.ts` has
 * today's states, and says what `due_at` and `attempts` are.
 */
const SURVEY_REQUESTS = [
  `CREATE TABLE survey_requests (
    project_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    person_id INTEGER NOT NULL,
    channel TEXT NOT NULL,
    autopilot INTEGER NOT NULL,
    state TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    scheduled_at INTEGER NOT NULL,
    due_at INTEGER,
    claimer TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    sent_at INTEGER,
    properties TEXT NOT NULL,
    token TEXT NOT NULL,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE
  )`,
  "CREATE UNIQUE INDEX survey_requests_by_token ON survey_requests (token)",
  "CREATE INDEX survey_requests_by_person ON survey_requests (project_id, person_id)",
  "CREATE INDEX survey_requests_by_due ON survey_requests (due_at, project_id, id) WHERE due_at IS NOT NULL",
  "CREATE INDEX survey_requests_by_sent ON survey_requests (project_id, channel, sent_at) WHERE sent_at IS NOT NULL",
];

/**
 * `notes` and `note_ids` are the JSON arrays of both forms that lists show: a look-up for each row would double a
 * list's time.
 */
const RESPONSES = [
  `CREATE TABLE responses (
    project_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    person_id INTEGER NOT NULL,
    request_id INTEGER,
    survey_type TEXT NOT NULL DEFAULT 'nps',
    score INTEGER NOT NULL,
    comment TEXT,
    token TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    person_properties TEXT NOT NULL,
    tags TEXT NOT NULL DEFAULT '[]',
    additional_answers TEXT NOT NULL DEFAULT '[]',
    notes TEXT NOT NULL DEFAULT '[]',
    note_ids TEXT NOT NULL DEFAULT '[]',
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE
  )`,
  "CREATE UNIQUE INDEX responses_by_token ON responses (token)",
  "CREATE INDEX responses_by_creation ON responses (project_id, created_at, id, score)",
  "CREATE INDEX responses_by_update ON responses (project_id, updated_at, id)",
  "CREATE INDEX responses_by_person ON responses (project_id, person_id, created_at, id)",
  "CREATE INDEX responses_by_request ON responses (project_id, request_id) WHERE request_id IS NOT NULL",
];

/**
 * `trend_responses` holds who is in which trend, so that a trend's lists and metrics are index-served like all others.
 */
const TRENDS = [
  `CREATE TABLE trends (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, id)
  )`,
  `CREATE TABLE trend_conditions (
    project_id INTEGER NOT NULL,
    trend_id INTEGER NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (project_id, trend_id, key),
    FOREIGN KEY (project_id, trend_id) REFERENCES trends (project_id, id) ON DELETE CASCADE
  )`,
  `CREATE TABLE trend_responses (
    project_id INTEGER NOT NULL,
    trend_id INTEGER NOT NULL,
    response_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    score INTEGER NOT NULL,
    PRIMARY KEY (project_id, trend_id, response_id),
    FOREIGN KEY (project_id, trend_id) REFERENCES trends (project_id, id) ON DELETE CASCADE,
    FOREIGN KEY (project_id, response_id) REFERENCES responses (project_id, id) ON DELETE CASCADE
  )`,
  "CREATE INDEX trend_responses_by_creation ON trend_responses (project_id, trend_id, created_at, response_id, score)",
  "CREATE INDEX trend_responses_by_update ON trend_responses (project_id, trend_id, updated_at, response_id)",
  "CREATE INDEX trend_responses_by_response ON trend_responses (project_id, response_id)",
];

const AUTOPILOT = [
  `CREATE TABLE autopilot_configurations (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    platform TEXT NOT NULL,
    active INTEGER NOT NULL,
    frequency INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, platform)
  )`,
  `CREATE TABLE memberships (
    project_id INTEGER NOT NULL,
    platform TEXT NOT NULL,
    person_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    updated_at INTEGER NOT NULL,
    properties TEXT NOT NULL,
    next_request_id INTEGER,
    PRIMARY KEY (project_id, platform, person_id),
    FOREIGN KEY (project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE
  )`,
  "CREATE INDEX memberships_by_creation ON memberships (project_id, platform, created_at, person_id)",
  "CREATE INDEX memberships_by_person ON memberships (project_id, person_id)",
];

/** A suppression has no person: it outlives them. Claims look for what is due project by project. */
export const ADD_SUPPRESSIONS: readonly string[] = [
  "CREATE TABLE store_secrets (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)",
  `CREATE TABLE suppressions (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    channel TEXT NOT NULL,
    address_hash TEXT NOT NULL,
    reason TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, channel, address_hash, reason)
  )`,
  "DROP INDEX survey_requests_by_due",
  "CREATE INDEX survey_requests_by_due ON survey_requests (project_id, due_at, id) WHERE due_at IS NOT NULL",
];

/** How a project's surveys present themselves; a setting that was never made has no row. */
export const ADD_PROJECT_SETTINGS: readonly string[] = [
  `CREATE TABLE project_settings (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (project_id, name)
  )`,
];

/** Links that anybody may answer; the answers carry these properties. */
export const ADD_SURVEY_LINKS: readonly string[] = [
  `CREATE TABLE survey_links (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    name TEXT NOT NULL,
    token TEXT NOT NULL,
    properties TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    PRIMARY KEY (project_id, id)
  )`,
  "CREATE UNIQUE INDEX survey_links_by_token ON survey_links (token)",
];

/** Where an imported response was shown by the service that closed. */
export const ADD_IMPORTED_PERMALINKS: readonly string[] = ["ALTER TABLE responses ADD COLUMN imported_permalink TEXT"];

/** A revoked key stays, so that it is told from one that was never there. */
export const ADD_KEY_LIVES: readonly string[] = [
  "ALTER TABLE api_keys ADD COLUMN name TEXT",
  "ALTER TABLE api_keys ADD COLUMN expires_at INTEGER",
  "ALTER TABLE api_keys ADD COLUMN revoked_at INTEGER",
];

/** `state` is that of the newest mail; `period_at` what it is for, and `due_at` when something is to be done next. */
export const ADD_DIGESTS: readonly string[] = [
  `CREATE TABLE digests (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    email TEXT NOT NULL,
    email_key TEXT NOT NULL,
    token TEXT NOT NULL,
    weekday INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    zone TEXT,
    created_at INTEGER NOT NULL,
    unsubscribed_at INTEGER,
    state TEXT NOT NULL,
    due_at INTEGER,
    period_at INTEGER,
    sent_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    claimer TEXT,
    PRIMARY KEY (project_id, id)
  )`,
  "CREATE UNIQUE INDEX digests_by_email ON digests (project_id, email_key)",
  "CREATE INDEX digests_by_token ON digests (token)",
];

export const CREATE_SCHEMA: readonly string[] = [
  ...PROJECTS,
  ...PEOPLE,
  ...SURVEY_REQUESTS,
  ...RESPONSES,
  ...TRENDS,
  ...AUTOPILOT,
];

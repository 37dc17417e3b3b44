/** One row of state for each project, and ids of webhook events that are counted within the project as all others are. */
import { ADD_WEBHOOKS } from "./webhook-schema.ts";

/** `project_state` is apart from `projects`, since every write changes it: a narrow row of its own. */
const PROJECT_STATE = [
  `CREATE TABLE project_state (
    project_id INTEGER NOT NULL PRIMARY KEY,
    next_id INTEGER NOT NULL,
    clock INTEGER NOT NULL,
    version INTEGER NOT NULL
  )`,
  `INSERT INTO project_state (project_id, next_id, clock, version)
   SELECT id, max(next_id, 1 + coalesce((SELECT max(e.id) FROM webhook_events e WHERE e.project_id = projects.id), 0)),
     (SELECT coalesce(max(newest_at), 0) FROM clock), 0 FROM projects`,
  // The row of writes that name no project.
  "INSERT INTO project_state (project_id, next_id, clock, version) SELECT 0, 1, coalesce(max(newest_at), 0), 0 FROM clock",
  "DROP TABLE clock",
  "ALTER TABLE projects DROP COLUMN next_id",
];

/** Unguessable by themselves: to be unique they need no index, which an engine that is spread over machines cannot have. */
const TOKENS = [
  ["survey_requests_by_token", "survey_requests (token)"],
  ["survey_requests_by_unsubscribe_token", "survey_requests (unsubscribe_token)"],
  ["survey_requests_by_bounce_token", "survey_requests (bounce_token) WHERE bounce_token IS NOT NULL"],
  ["responses_by_token", "responses (token)"],
  ["survey_links_by_token", "survey_links (token)"],
].flatMap(([name, columns]) => [`DROP INDEX ${name}`, `CREATE INDEX ${name} ON ${columns}`]);

const EVENTS = `CREATE TABLE webhook_events_anew (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    person_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    json TEXT,
    slack TEXT,
    PRIMARY KEY (project_id, id)
  )`;

const DELIVERIES = `CREATE TABLE webhook_deliveries_anew (
    project_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    event INTEGER NOT NULL,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    PRIMARY KEY (project_id, webhook_id, event),
    FOREIGN KEY (project_id, event) REFERENCES webhook_events_anew (project_id, id) ON DELETE CASCADE
  ) WITHOUT ROWID`;

const ATTEMPTS = `CREATE TABLE webhook_attempts_anew (
    project_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    event INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    status INTEGER,
    ms INTEGER NOT NULL,
    text TEXT NOT NULL,
    PRIMARY KEY (project_id, webhook_id, event, n),
    FOREIGN KEY (project_id, webhook_id, event)
      REFERENCES webhook_deliveries_anew (project_id, webhook_id, event) ON DELETE CASCADE
  ) WITHOUT ROWID`;

const EVENT_COLUMNS = "project_id, id, event_id, type, person_id, created_at, json, slack";
const REBUILT = ["webhook_attempts", "webhook_deliveries", "webhook_events"];

/** Triggers and indexes go with their tables, so they are made again. */
const WEBHOOKS = [
  EVENTS,
  DELIVERIES,
  ATTEMPTS,
  `INSERT INTO webhook_events_anew (${EVENT_COLUMNS}) SELECT ${EVENT_COLUMNS} FROM webhook_events`,
  "INSERT INTO webhook_deliveries_anew SELECT project_id, webhook_id, event, state, attempts, due_at FROM webhook_deliveries",
  "INSERT INTO webhook_attempts_anew SELECT project_id, webhook_id, event, n, at, status, ms, text FROM webhook_attempts",
  ...REBUILT.map((name) => `DROP TABLE ${name}`),
  ...REBUILT.map((name) => `ALTER TABLE ${name}_anew RENAME TO ${name}`),
  "CREATE UNIQUE INDEX webhook_events_by_event_id ON webhook_events (project_id, event_id)",
  "CREATE INDEX webhook_events_by_person ON webhook_events (project_id, person_id)",
  "CREATE INDEX webhook_events_by_creation ON webhook_events (project_id, created_at, id)",
  "CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (project_id, event)",
  ...ADD_WEBHOOKS.filter((sql) => /webhook_deliveries_by_(due|state)|CREATE TRIGGER/.test(sql)),
];

/** Those that deliver from one database, and when each was last known to live. */
export const ADD_PROCESSES: readonly string[] = [
  "CREATE TABLE processes (name TEXT NOT NULL PRIMARY KEY, seen_at INTEGER NOT NULL)",
];

export const ADD_PROJECT_STATE: readonly string[] = [...PROJECT_STATE, ...TOKENS, ...WEBHOOKS];

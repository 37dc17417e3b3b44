/** Webhooks: endpoints, what happened, and what became of it at each endpoint, counted as it changes. */

/**
 * `secret` is kept as it is, since it signs. `events` is a JSON array. Deliveries of a removed webhook and old events
 * are deleted in small steps.
 */
const ENDPOINTS = [
  `CREATE TABLE webhooks (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    id INTEGER NOT NULL,
    url TEXT NOT NULL,
    secret TEXT NOT NULL,
    previous_secret TEXT,
    previous_until INTEGER,
    signature_header TEXT NOT NULL,
    allow_private INTEGER NOT NULL,
    insecure_http INTEGER NOT NULL,
    events TEXT NOT NULL,
    score_from INTEGER,
    score_to INTEGER,
    format TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    disabled_at INTEGER,
    disabled_reason TEXT,
    failing_since INTEGER,
    strikes INTEGER NOT NULL DEFAULT 0,
    slow_until INTEGER,
    last_delivered_at INTEGER,
    missed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (project_id, id)
  ) WITHOUT ROWID`,
];

/** `json` and `slack` are the bodies: frozen when the event happens, and sent as they are. */
const EVENTS = [
  `CREATE TABLE webhook_events (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    project_id INTEGER NOT NULL REFERENCES projects (id),
    event_id TEXT NOT NULL,
    type TEXT NOT NULL,
    person_id INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    json TEXT,
    slack TEXT
  )`,
  "CREATE UNIQUE INDEX webhook_events_by_event_id ON webhook_events (project_id, event_id)",
  "CREATE INDEX webhook_events_by_person ON webhook_events (project_id, person_id)",
  "CREATE INDEX webhook_events_by_creation ON webhook_events (created_at)",
];

/** `state` is waiting, delivered or failed; a waiting one alone has `due_at`. `attempts` counts since it was last due. */
const DELIVERIES = [
  `CREATE TABLE webhook_deliveries (
    project_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    event INTEGER NOT NULL REFERENCES webhook_events (id) ON DELETE CASCADE,
    state TEXT NOT NULL,
    attempts INTEGER NOT NULL DEFAULT 0,
    due_at INTEGER,
    PRIMARY KEY (project_id, webhook_id, event)
  ) WITHOUT ROWID`,
  "CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (event)",
  `CREATE INDEX webhook_deliveries_by_due ON webhook_deliveries (project_id, webhook_id, due_at, event)
    WHERE due_at IS NOT NULL`,
  "CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (project_id, webhook_id, state, event)",
  `CREATE TABLE webhook_attempts (
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
      REFERENCES webhook_deliveries (project_id, webhook_id, event) ON DELETE CASCADE
  ) WITHOUT ROWID`,
];

/** How many deliveries of each endpoint are in each state; a data file keeps these by triggers. */
export const COUNT_WEBHOOKS = [
  `CREATE TABLE webhook_counts (
    project_id INTEGER NOT NULL,
    webhook_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (project_id, webhook_id, state)
  ) WITHOUT ROWID`,
  `CREATE TRIGGER webhook_counts_of_new AFTER INSERT ON webhook_deliveries BEGIN ${count("NEW", 1)} END`,
  `CREATE TRIGGER webhook_counts_of_gone AFTER DELETE ON webhook_deliveries BEGIN ${count("OLD", -1)} END`,
  `CREATE TRIGGER webhook_counts_of_changed AFTER UPDATE OF state ON webhook_deliveries WHEN OLD.state <> NEW.state
   BEGIN ${count("OLD", -1)} ${count("NEW", 1)} END`,
];

function count(row: "OLD" | "NEW", by: number): string {
  return `INSERT INTO webhook_counts (project_id, webhook_id, state, n)
    VALUES (${row}.project_id, ${row}.webhook_id, ${row}.state, ${by})
    ON CONFLICT (project_id, webhook_id, state) DO UPDATE SET n = n + ${by};`;
}

export const ADD_WEBHOOKS: readonly string[] = [...ENDPOINTS, ...EVENTS, ...DELIVERIES, ...COUNT_WEBHOOKS];

/** Names the counts that are wrong, as `project_id` and `list`. */
export const FIND_MISCOUNTED_WEBHOOKS = `SELECT project_id, 'webhook ' || webhook_id || ' ' || state AS list FROM (
    SELECT project_id, webhook_id, state, n FROM webhook_counts
    UNION ALL SELECT project_id, webhook_id, state, -count(*) FROM webhook_deliveries
      GROUP BY project_id, webhook_id, state) AS counted
  GROUP BY project_id, webhook_id, state HAVING sum(n) <> 0`;

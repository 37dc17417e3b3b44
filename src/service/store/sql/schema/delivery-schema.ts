/** States of deliveries, the log of attempts, and what the queue holds, counted as it changes. */
import { systemRandom } from "../../../../runtime/random.ts";
import type { Database } from "../database.ts";

/**
 * `state` is scheduled, claimed, transmitting, sent, retrying, held, unknown, bounced, failed, cancelled, or paused
 * (its Autopilot is inactive). `claims` counts claims and fences them; `attempts` counts what was tried of the message.
 * `due_at` is when a scheduler may take a scheduled or retrying one, or the end of a claim's lease; a transmitting one
 * has none, so that no lease that runs out sends it again. `transmitting_at` is the mark before the final dot.
 * `reason` says why it is held, failed or cancelled. `frozen` is what later attempts repeat, as JSON.
 * `unsubscribe_token` is what `/u/` leads with; messages of before this schema carry `/u/<token>`, the answering
 * token, so theirs is that. `page_facts` is what the pages remember of visits, as JSON.
 */
const COLUMNS = [
  "ALTER TABLE projects ADD COLUMN paused_at INTEGER",
  ...[
    "claims INTEGER NOT NULL DEFAULT 0",
    "first_attempt_at INTEGER",
    "transmitting_at INTEGER",
    "reason TEXT",
    "message_id TEXT",
    "frozen TEXT",
    "unsubscribe_token TEXT",
    "bounce_token TEXT",
    "page_facts TEXT",
  ].map((column) => `ALTER TABLE survey_requests ADD COLUMN ${column}`),
];

/** Each claim was an attempt, and `failed` was what is `bounced` now. */
const OLD_ROWS = `UPDATE survey_requests SET
  claims = attempts,
  attempts = max(attempts - (claimer IS NOT NULL), 0),
  first_attempt_at = CASE WHEN attempts > 0 THEN coalesce(sent_at, scheduled_at) END,
  state = CASE
    WHEN state = 'waiting' AND claimer IS NOT NULL THEN 'claimed'
    WHEN state = 'waiting' AND attempts > 0 THEN 'retrying'
    WHEN state = 'waiting' THEN 'scheduled'
    WHEN state = 'failed' THEN 'bounced'
    ELSE state END`;

const UNSUBSCRIBE_INDEX =
  "CREATE UNIQUE INDEX survey_requests_by_unsubscribe_token ON survey_requests (unsubscribe_token)";

/** Claims look for what is due project by project and channel by channel: a sender that waits holds up no other. */
const INDEXES = [
  "DROP INDEX survey_requests_by_due",
  "CREATE INDEX survey_requests_by_due ON survey_requests (project_id, channel, due_at, id) WHERE due_at IS NOT NULL",
  "CREATE INDEX survey_requests_by_claimer ON survey_requests (claimer, project_id, id) WHERE claimer IS NOT NULL",
  "CREATE INDEX survey_requests_by_state ON survey_requests (project_id, state, id)",
  UNSUBSCRIBE_INDEX,
  "CREATE UNIQUE INDEX survey_requests_by_bounce_token ON survey_requests (bounce_token) WHERE bounce_token IS NOT NULL",
  "CREATE INDEX survey_requests_by_message_id ON survey_requests (message_id) WHERE message_id IS NOT NULL",
];

/** `n` counts a request's rows from 1. What made somebody bounce is kept as long as the request. */
const ATTEMPTS = [
  `CREATE TABLE delivery_attempts (
    project_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    n INTEGER NOT NULL,
    at INTEGER NOT NULL,
    stage TEXT NOT NULL,
    code INTEGER,
    enhanced_code TEXT,
    text TEXT,
    remote_host TEXT,
    server_id TEXT,
    ms INTEGER NOT NULL,
    outcome TEXT NOT NULL,
    PRIMARY KEY (project_id, request_id, n),
    FOREIGN KEY (project_id, request_id) REFERENCES survey_requests (project_id, id) ON DELETE CASCADE
  ) WITHOUT ROWID`,
  "CREATE INDEX delivery_attempts_by_time ON delivery_attempts (at) WHERE outcome <> 'bounced'",
];

/** `delivery_state` has one row for the pause of the whole service and one for each sender, as JSON. */
const STATE = "CREATE TABLE delivery_state (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL)";

/** How many requests are in each state; a data file keeps these by triggers. */
export const COUNT_DELIVERIES = [
  `CREATE TABLE delivery_counts (
    project_id INTEGER NOT NULL,
    state TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (project_id, state)
  ) WITHOUT ROWID`,
  "INSERT INTO delivery_counts SELECT project_id, state, count(*) FROM survey_requests GROUP BY project_id, state",
  `CREATE TRIGGER delivery_counts_of_new AFTER INSERT ON survey_requests BEGIN ${count("NEW", 1)} END`,
  `CREATE TRIGGER delivery_counts_of_gone AFTER DELETE ON survey_requests BEGIN ${count("OLD", -1)} END`,
  `CREATE TRIGGER delivery_counts_of_changed AFTER UPDATE OF state ON survey_requests WHEN OLD.state <> NEW.state
   BEGIN ${count("OLD", -1)} ${count("NEW", 1)} END`,
];

function count(row: "OLD" | "NEW", by: number): string {
  return `INSERT INTO delivery_counts (project_id, state, n) VALUES (${row}.project_id, ${row}.state, ${by})
    ON CONFLICT (project_id, state) DO UPDATE SET n = n + ${by};`;
}

export const ADD_DELIVERIES: readonly string[] = [
  ...COLUMNS,
  OLD_ROWS,
  ...INDEXES,
  ...ATTEMPTS,
  STATE,
  ...COUNT_DELIVERIES,
];

/** `delivery_reports` has what came back of surveys, so that nothing is recorded twice; no addresses. */
export const ADD_REPORTS: readonly string[] = [
  "CREATE TABLE delivery_reports (source TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (source, id)) WITHOUT ROWID",
  "CREATE INDEX delivery_reports_by_time ON delivery_reports (at)",
  "CREATE INDEX delivery_attempts_by_soft ON delivery_attempts (project_id, request_id) WHERE outcome = 'soft'",
];

/** Names the counts that are wrong, as `project_id` and `list`. */
export const FIND_MISCOUNTED_STATES = `SELECT project_id, 'deliveries ' || state AS list FROM (
    SELECT project_id, state, n FROM delivery_counts
    UNION ALL SELECT project_id, state, -count(*) FROM survey_requests GROUP BY project_id, state) AS counted
  GROUP BY project_id, state HAVING sum(n) <> 0`;

const TOKEN_BYTES = 16;
const ROWS_A_STEP = 1000;

/**
 * Gives existing rows a token of their own; one whose message may have gone out keeps the token that the message
 * carries. SQLite's random numbers are not made for secrets. The index is made anew afterwards: to sort at the end is
 * many times as quick as to insert in random order.
 */
export async function giveUnsubscribeTokens(database: Database): Promise<void> {
  await database.run("DROP INDEX survey_requests_by_unsubscribe_token");
  for (let last = 0; ;) {
    const rows = await database.all("SELECT rowid AS id FROM survey_requests WHERE rowid > ? ORDER BY rowid LIMIT ?", [
      last,
      ROWS_A_STEP,
    ]);
    const tokens = Object.fromEntries(rows.map(({ id }) => [String(id), systemRandom.token(TOKEN_BYTES)]));
    await database.run(
      `UPDATE survey_requests SET unsubscribe_token = CASE WHEN claims > 0 THEN token ELSE given.value END
        FROM json_each(?) AS given
       WHERE survey_requests.rowid = CAST(given.key AS INTEGER)`,
      [JSON.stringify(tokens)],
    );
    last = Number(rows.at(-1)?.id ?? last);
    if (rows.length < ROWS_A_STEP) break;
  }
  await database.run(UNSUBSCRIBE_INDEX);
}

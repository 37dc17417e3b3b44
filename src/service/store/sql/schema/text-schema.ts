/** Text messages besides surveys: replies that are to be sent, parts that have come in, and what a day cost. */

/** `outcome` is null while a reply waits; `due_at` is null once it was taken. The number is its person's. */
const REPLIES = [
  `CREATE TABLE text_replies (
    project_id INTEGER NOT NULL,
    id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    score INTEGER,
    created_at INTEGER NOT NULL,
    due_at INTEGER,
    attempts INTEGER NOT NULL DEFAULT 0,
    outcome TEXT,
    PRIMARY KEY (project_id, id),
    FOREIGN KEY (project_id, request_id) REFERENCES survey_requests (project_id, id) ON DELETE CASCADE
  ) WITHOUT ROWID`,
  "CREATE INDEX text_replies_by_request ON text_replies (project_id, request_id, kind)",
  "CREATE INDEX text_replies_by_due ON text_replies (due_at) WHERE due_at IS NOT NULL",
  "CREATE INDEX text_replies_by_taken ON text_replies (project_id, id) WHERE due_at IS NULL AND outcome IS NULL",
  "CREATE INDEX text_replies_by_creation ON text_replies (created_at)",
];

const PARTS = [
  `CREATE TABLE text_parts (
    phone_number TEXT NOT NULL,
    reference TEXT NOT NULL,
    n INTEGER NOT NULL,
    total INTEGER NOT NULL,
    text TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (phone_number, reference, n)
  ) WITHOUT ROWID`,
  "CREATE INDEX text_parts_by_time ON text_parts (at)",
];

const SEGMENTS = [
  `CREATE TABLE text_segments (
    project_id INTEGER NOT NULL REFERENCES projects (id),
    day TEXT NOT NULL,
    n INTEGER NOT NULL,
    PRIMARY KEY (project_id, day)
  ) WITHOUT ROWID`,
];

export const ADD_TEXTS: readonly string[] = [...REPLIES, ...PARTS, ...SEGMENTS];

/**
 * The schema of a new data file, made at once: what the numbered migrations make of an empty file by `version`, in the
 * same order. Later migrations follow on it, so it needs no change with them. A test compares the two. At once it costs
 * 15 ms of processor time, step by step 36.
 */
import { makeErasureSecret } from "../sql/schema/privacy-schema.ts";
import type { Migration } from "../sql/schema/migrations.ts";

const SCHEMA = `
CREATE TABLE projects (
  id INTEGER NOT NULL PRIMARY KEY, name TEXT NOT NULL, created_at INTEGER NOT NULL, throttle_seconds INTEGER,
  paused_at INTEGER
);
CREATE UNIQUE INDEX projects_by_name ON projects (name);
CREATE TABLE api_keys (
  project_id INTEGER NOT NULL REFERENCES projects (id), id INTEGER NOT NULL, hash TEXT NOT NULL,
  last_four TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX api_keys_by_hash ON api_keys (hash);
CREATE TABLE people (
  project_id INTEGER NOT NULL REFERENCES projects (id), id INTEGER NOT NULL, email TEXT, email_key TEXT,
  name TEXT, phone_number TEXT, created_at INTEGER NOT NULL, last_sent_at INTEGER, last_responded_at INTEGER,
  next_survey_at INTEGER, bounced_at INTEGER, unsubscribed_at INTEGER, removed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, id)
);
CREATE UNIQUE INDEX people_by_email ON people (project_id, email_key);
CREATE UNIQUE INDEX people_by_phone ON people (project_id, phone_number);
CREATE INDEX people_by_creation ON people (project_id, created_at, id);
CREATE INDEX people_by_bounce ON people (project_id, bounced_at, id) WHERE bounced_at IS NOT NULL;
CREATE INDEX people_by_unsubscribe ON people (project_id, unsubscribed_at, id) WHERE unsubscribed_at IS NOT NULL;
CREATE TABLE survey_requests (
  project_id INTEGER NOT NULL, id INTEGER NOT NULL, person_id INTEGER NOT NULL, channel TEXT NOT NULL,
  autopilot INTEGER NOT NULL, state TEXT NOT NULL, created_at INTEGER NOT NULL, scheduled_at INTEGER NOT NULL,
  due_at INTEGER, claimer TEXT, attempts INTEGER NOT NULL DEFAULT 0, sent_at INTEGER, properties TEXT NOT NULL,
  token TEXT NOT NULL, claims INTEGER NOT NULL DEFAULT 0, first_attempt_at INTEGER, transmitting_at INTEGER,
  reason TEXT, message_id TEXT, frozen TEXT, unsubscribe_token TEXT, bounce_token TEXT, page_facts TEXT,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE
);
CREATE INDEX survey_requests_by_person ON survey_requests (project_id, person_id);
CREATE TABLE responses (
  project_id INTEGER NOT NULL, id INTEGER NOT NULL, person_id INTEGER NOT NULL, request_id INTEGER,
  survey_type TEXT NOT NULL DEFAULT 'nps', score INTEGER NOT NULL, comment TEXT, token TEXT NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, person_properties TEXT NOT NULL,
  tags TEXT NOT NULL DEFAULT '[]', additional_answers TEXT NOT NULL DEFAULT '[]',
  notes TEXT NOT NULL DEFAULT '[]', note_ids TEXT NOT NULL DEFAULT '[]', imported_permalink TEXT,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE
);
CREATE INDEX responses_by_person ON responses (project_id, person_id, created_at, id);
CREATE INDEX responses_by_request ON responses (project_id, request_id) WHERE request_id IS NOT NULL;
CREATE TABLE trends (
  project_id INTEGER NOT NULL REFERENCES projects (id), id INTEGER NOT NULL, name TEXT NOT NULL,
  created_at INTEGER NOT NULL, state TEXT NOT NULL DEFAULT 'filled',
  PRIMARY KEY (project_id, id)
);
CREATE TABLE trend_conditions (
  project_id INTEGER NOT NULL, trend_id INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (project_id, trend_id, key),
  FOREIGN KEY (project_id, trend_id) REFERENCES trends (project_id, id) ON DELETE CASCADE
);
CREATE TABLE trend_responses (
  project_id INTEGER NOT NULL, trend_id INTEGER NOT NULL, response_id INTEGER NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, score INTEGER NOT NULL,
  survey_type TEXT NOT NULL DEFAULT 'nps',
  PRIMARY KEY (project_id, trend_id, response_id),
  FOREIGN KEY (project_id, trend_id) REFERENCES trends (project_id, id) ON DELETE CASCADE,
  FOREIGN KEY (project_id, response_id) REFERENCES responses (project_id, id) ON DELETE CASCADE
);
CREATE TABLE autopilot_configurations (
  project_id INTEGER NOT NULL REFERENCES projects (id), platform TEXT NOT NULL, active INTEGER NOT NULL,
  frequency INTEGER NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, platform)
);
CREATE TABLE memberships (
  project_id INTEGER NOT NULL, platform TEXT NOT NULL, person_id INTEGER NOT NULL, created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL, properties TEXT NOT NULL, next_request_id INTEGER,
  PRIMARY KEY (project_id, platform, person_id),
  FOREIGN KEY (project_id, person_id) REFERENCES people (project_id, id) ON DELETE CASCADE
);
CREATE INDEX memberships_by_creation ON memberships (project_id, platform, created_at, person_id);
CREATE INDEX memberships_by_person ON memberships (project_id, person_id);
CREATE TABLE store_secrets (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE suppressions (
  project_id INTEGER NOT NULL REFERENCES projects (id), channel TEXT NOT NULL, address_hash TEXT NOT NULL,
  reason TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, channel, address_hash, reason)
);
CREATE TABLE erased_surveys (
  token TEXT NOT NULL PRIMARY KEY, project_id INTEGER NOT NULL, request_id INTEGER NOT NULL, channel TEXT NOT NULL
);
CREATE TABLE list_blocks (
  project_id INTEGER NOT NULL, list TEXT NOT NULL, first_at INTEGER NOT NULL, first_id INTEGER NOT NULL,
  row_count INTEGER NOT NULL, promoters INTEGER NOT NULL, detractors INTEGER NOT NULL,
  least_other INTEGER NOT NULL, most_other INTEGER NOT NULL, unscored INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, list, first_at, first_id)
) WITHOUT ROWID;
CREATE TABLE long_changes (
  project_id INTEGER NOT NULL REFERENCES projects (id), kind TEXT NOT NULL, target TEXT NOT NULL,
  done_to INTEGER NOT NULL,
  PRIMARY KEY (project_id, kind, target)
);
CREATE INDEX responses_by_update ON responses (project_id, updated_at, id, created_at);
CREATE INDEX trend_responses_by_update ON trend_responses (project_id, trend_id, updated_at, response_id,
  created_at);
CREATE INDEX trend_responses_by_response ON trend_responses (project_id, response_id, trend_id);
CREATE INDEX survey_requests_by_sent ON survey_requests (project_id, channel, sent_at, id) WHERE sent_at IS NOT NULL;
CREATE INDEX survey_requests_by_due ON survey_requests (project_id, channel, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX survey_requests_by_claimer ON survey_requests (claimer, project_id, id) WHERE claimer IS NOT NULL;
CREATE INDEX survey_requests_by_state ON survey_requests (project_id, state, id);
CREATE INDEX survey_requests_by_message_id ON survey_requests (message_id) WHERE message_id IS NOT NULL;
CREATE TABLE delivery_attempts (
  project_id INTEGER NOT NULL, request_id INTEGER NOT NULL, n INTEGER NOT NULL, at INTEGER NOT NULL,
  stage TEXT NOT NULL, code INTEGER, enhanced_code TEXT, text TEXT, remote_host TEXT, server_id TEXT,
  ms INTEGER NOT NULL, outcome TEXT NOT NULL,
  PRIMARY KEY (project_id, request_id, n),
  FOREIGN KEY (project_id, request_id) REFERENCES survey_requests (project_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX delivery_attempts_by_time ON delivery_attempts (at) WHERE outcome <> 'bounced';
CREATE TABLE delivery_state (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE delivery_counts (
  project_id INTEGER NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (project_id, state)
) WITHOUT ROWID;
CREATE TRIGGER delivery_counts_of_new AFTER INSERT ON survey_requests BEGIN
  INSERT INTO delivery_counts (project_id, state, n) VALUES (NEW.project_id, NEW.state, 1) ON CONFLICT
    (project_id, state) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER delivery_counts_of_gone AFTER DELETE ON survey_requests BEGIN
  INSERT INTO delivery_counts (project_id, state, n) VALUES (OLD.project_id, OLD.state, -1) ON CONFLICT
    (project_id, state) DO UPDATE SET n = n + -1;
END;
CREATE TRIGGER delivery_counts_of_changed AFTER UPDATE OF state ON survey_requests WHEN OLD.state <> NEW.state BEGIN
  INSERT INTO delivery_counts (project_id, state, n) VALUES (OLD.project_id, OLD.state, -1) ON CONFLICT
    (project_id, state) DO UPDATE SET n = n + -1;
  INSERT INTO delivery_counts (project_id, state, n) VALUES (NEW.project_id, NEW.state, 1) ON CONFLICT
    (project_id, state) DO UPDATE SET n = n + 1;
END;
CREATE TABLE project_settings (
  project_id INTEGER NOT NULL REFERENCES projects (id), name TEXT NOT NULL, value TEXT NOT NULL,
  PRIMARY KEY (project_id, name)
);
CREATE TABLE delivery_reports (
  source TEXT NOT NULL, id TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (source, id)
) WITHOUT ROWID;
CREATE INDEX delivery_reports_by_time ON delivery_reports (at);
CREATE INDEX delivery_attempts_by_soft ON delivery_attempts (project_id, request_id) WHERE outcome = 'soft';
CREATE TABLE survey_links (
  project_id INTEGER NOT NULL REFERENCES projects (id), id INTEGER NOT NULL, name TEXT NOT NULL,
  token TEXT NOT NULL, properties TEXT NOT NULL, created_at INTEGER NOT NULL,
  PRIMARY KEY (project_id, id)
);
CREATE INDEX responses_by_creation ON responses (project_id, created_at, id, score, survey_type, updated_at);
CREATE INDEX trend_responses_by_creation ON trend_responses (project_id, trend_id, created_at, response_id, score,
  survey_type, updated_at);
CREATE TABLE webhooks (
  project_id INTEGER NOT NULL REFERENCES projects (id), id INTEGER NOT NULL, url TEXT NOT NULL,
  secret TEXT NOT NULL, previous_secret TEXT, previous_until INTEGER, signature_header TEXT NOT NULL,
  allow_private INTEGER NOT NULL, insecure_http INTEGER NOT NULL, events TEXT NOT NULL, score_from INTEGER,
  score_to INTEGER, format TEXT NOT NULL, created_at INTEGER NOT NULL, disabled_at INTEGER, disabled_reason TEXT,
  failing_since INTEGER, strikes INTEGER NOT NULL DEFAULT 0, slow_until INTEGER, last_delivered_at INTEGER,
  missed INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (project_id, id)
) WITHOUT ROWID;
CREATE TABLE webhook_counts (
  project_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, state TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (project_id, webhook_id, state)
) WITHOUT ROWID;
CREATE TABLE project_state (
  project_id INTEGER NOT NULL PRIMARY KEY, next_id INTEGER NOT NULL, clock INTEGER NOT NULL,
  version INTEGER NOT NULL
);
CREATE INDEX survey_requests_by_token ON survey_requests (token);
CREATE INDEX survey_requests_by_unsubscribe_token ON survey_requests (unsubscribe_token);
CREATE INDEX survey_requests_by_bounce_token ON survey_requests (bounce_token) WHERE bounce_token IS NOT NULL;
CREATE INDEX responses_by_token ON responses (token);
CREATE INDEX survey_links_by_token ON survey_links (token);
CREATE TABLE webhook_events (
  project_id INTEGER NOT NULL REFERENCES projects (id), id INTEGER NOT NULL, event_id TEXT NOT NULL,
  type TEXT NOT NULL, person_id INTEGER NOT NULL, created_at INTEGER NOT NULL, json TEXT, slack TEXT,
  PRIMARY KEY (project_id, id)
);
CREATE TABLE webhook_deliveries (
  project_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, event INTEGER NOT NULL, state TEXT NOT NULL,
  attempts INTEGER NOT NULL DEFAULT 0, due_at INTEGER,
  PRIMARY KEY (project_id, webhook_id, event),
  FOREIGN KEY (project_id, event) REFERENCES webhook_events (project_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE TABLE webhook_attempts (
  project_id INTEGER NOT NULL, webhook_id INTEGER NOT NULL, event INTEGER NOT NULL, n INTEGER NOT NULL,
  at INTEGER NOT NULL, status INTEGER, ms INTEGER NOT NULL, text TEXT NOT NULL,
  PRIMARY KEY (project_id, webhook_id, event, n),
  FOREIGN KEY (project_id, webhook_id, event) REFERENCES webhook_deliveries (project_id, webhook_id, event) ON
    DELETE CASCADE
) WITHOUT ROWID;
CREATE UNIQUE INDEX webhook_events_by_event_id ON webhook_events (project_id, event_id);
CREATE INDEX webhook_events_by_person ON webhook_events (project_id, person_id);
CREATE INDEX webhook_events_by_creation ON webhook_events (project_id, created_at, id);
CREATE INDEX webhook_deliveries_by_event ON webhook_deliveries (project_id, event);
CREATE INDEX webhook_deliveries_by_due ON webhook_deliveries (project_id, webhook_id, due_at, event) WHERE due_at IS
  NOT NULL;
CREATE INDEX webhook_deliveries_by_state ON webhook_deliveries (project_id, webhook_id, state, event);
CREATE TRIGGER webhook_counts_of_new AFTER INSERT ON webhook_deliveries BEGIN
  INSERT INTO webhook_counts (project_id, webhook_id, state, n) VALUES (NEW.project_id, NEW.webhook_id, NEW.state,
    1) ON CONFLICT (project_id, webhook_id, state) DO UPDATE SET n = n + 1;
END;
CREATE TRIGGER webhook_counts_of_gone AFTER DELETE ON webhook_deliveries BEGIN
  INSERT INTO webhook_counts (project_id, webhook_id, state, n) VALUES (OLD.project_id, OLD.webhook_id, OLD.state,
    -1) ON CONFLICT (project_id, webhook_id, state) DO UPDATE SET n = n + -1;
END;
CREATE TRIGGER webhook_counts_of_changed AFTER UPDATE OF state ON webhook_deliveries WHEN OLD.state <> NEW.state
  BEGIN
  INSERT INTO webhook_counts (project_id, webhook_id, state, n) VALUES (OLD.project_id, OLD.webhook_id, OLD.state,
    -1) ON CONFLICT (project_id, webhook_id, state) DO UPDATE SET n = n + -1;
  INSERT INTO webhook_counts (project_id, webhook_id, state, n) VALUES (NEW.project_id, NEW.webhook_id, NEW.state,
    1) ON CONFLICT (project_id, webhook_id, state) DO UPDATE SET n = n + 1;
END;
CREATE TABLE erasures (
  project_id INTEGER NOT NULL REFERENCES projects (id), hash TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (project_id, hash)
) WITHOUT ROWID;
CREATE TABLE erased_links (
  project_id INTEGER NOT NULL REFERENCES projects (id), hash TEXT NOT NULL, channel TEXT NOT NULL,
  address_hash TEXT NOT NULL,
  PRIMARY KEY (project_id, hash)
) WITHOUT ROWID;
CREATE INDEX erased_links_by_hash ON erased_links (hash);
CREATE INDEX erased_links_by_address ON erased_links (project_id, address_hash);
CREATE TABLE upkeep_state (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE store_marks (name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE text_replies (
  project_id INTEGER NOT NULL, id INTEGER NOT NULL, request_id INTEGER NOT NULL, kind TEXT NOT NULL,
  key TEXT NOT NULL, score INTEGER, created_at INTEGER NOT NULL, due_at INTEGER,
  attempts INTEGER NOT NULL DEFAULT 0, outcome TEXT,
  PRIMARY KEY (project_id, id),
  FOREIGN KEY (project_id, request_id) REFERENCES survey_requests (project_id, id) ON DELETE CASCADE
) WITHOUT ROWID;
CREATE INDEX text_replies_by_request ON text_replies (project_id, request_id, kind);
CREATE INDEX text_replies_by_due ON text_replies (due_at) WHERE due_at IS NOT NULL;
CREATE INDEX text_replies_by_taken ON text_replies (project_id, id) WHERE due_at IS NULL AND outcome IS NULL;
CREATE INDEX text_replies_by_creation ON text_replies (created_at);
CREATE TABLE text_parts (
  phone_number TEXT NOT NULL, reference TEXT NOT NULL, n INTEGER NOT NULL, total INTEGER NOT NULL,
  text TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (phone_number, reference, n)
) WITHOUT ROWID;
CREATE INDEX text_parts_by_time ON text_parts (at);
CREATE TABLE text_segments (
  project_id INTEGER NOT NULL REFERENCES projects (id), day TEXT NOT NULL, n INTEGER NOT NULL,
  PRIMARY KEY (project_id, day)
) WITHOUT ROWID;
`;

/** The row of writes that name no project. */
const STATE = "INSERT INTO project_state (project_id, next_id, clock, version) VALUES (0, 1, 0, 0)";

export const NEW_FILE: Migration = { version: 17, statements: [SCHEMA, STATE], run: makeErasureSecret };

import { OF_PROJECT, type Table } from "../table.ts";

export const WEBHOOK_TABLES: readonly Table[] = [
  /** `secret` is stored in plain text, because it is needed for signing. `events` is a JSON array. */
  {
    name: "webhooks",
    isClustered: true,
    columns: `project_id int, id int, url text, secret text, previous_secret text?, previous_until int?,
      signature_header text, allow_private int, insecure_http int, events text, score_from int?,
      score_to int?, format text, created_at int, disabled_at int?, disabled_reason text?,
      failing_since int?, strikes int = 0, slow_until int?, last_delivered_at int?, missed int = 0`,
    key: "project_id, id",
    references: [OF_PROJECT],
  },
  /** `json` and `slack` are the request bodies, fixed when the event is created. */
  {
    name: "webhook_events",
    columns: `project_id int, id int, event_id text, type text, person_id int, created_at int, json text?,
      slack text?`,
    key: "project_id, id",
    references: [OF_PROJECT],
    indexes: {
      webhook_events_by_event_id: "UNIQUE (project_id, event_id)",
      webhook_events_by_person: "(project_id, person_id)",
      webhook_events_by_creation: "(project_id, created_at, id)",
    },
  },
  /**
   * `state` is waiting, delivered or failed; only waiting ones have `due_at`. `attempts` starts again at 0 when the
   * event is resent. Deliveries of removed webhooks and old events are deleted in small steps.
   */
  {
    name: "webhook_deliveries",
    isClustered: true,
    columns: `project_id int, webhook_id int, event int, state text, attempts int = 0, due_at int?`,
    key: "project_id, webhook_id, event",
    references: ["(project_id, event) REFERENCES webhook_events (project_id, id) ON DELETE CASCADE"],
    indexes: {
      webhook_deliveries_by_event: "(project_id, event)",
      webhook_deliveries_by_due: "(project_id, webhook_id, due_at, event) WHERE due_at IS NOT NULL",
      webhook_deliveries_by_state: "(project_id, webhook_id, state, event)",
    },
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
];

/** Text messages besides surveys: replies that are to be sent, parts that have come in, and what a day cost. */
import { OF_PROJECT, OF_REQUEST, type Table } from "../table.ts";

export const TEXT_TABLES: readonly Table[] = [
  /** `outcome` is null while a reply waits; `due_at` is null once it was taken. The number is its person's. */
  {
    name: "text_replies",
    isClustered: true,
    columns: `project_id int, id int, request_id int, kind text, key text, score int?, created_at int,
      due_at int?, attempts int = 0, outcome text?`,
    key: "project_id, id",
    references: [OF_REQUEST],
    indexes: {
      text_replies_by_request: "(project_id, request_id, kind)",
      text_replies_by_due: "(due_at) WHERE due_at IS NOT NULL",
      text_replies_by_taken: "(project_id, id) WHERE due_at IS NULL AND outcome IS NULL",
      text_replies_by_creation: "(created_at)",
    },
  },
  {
    name: "text_parts",
    isClustered: true,
    columns: `phone_number text, reference text, n int, total int, text text, at int`,
    key: "phone_number, reference, n",
    indexes: { text_parts_by_time: "(at)" },
  },
  {
    name: "text_segments",
    isClustered: true,
    columns: `project_id int, day text, n int`,
    key: "project_id, day",
    references: [OF_PROJECT],
  },
];

import { OF_PROJECT, type Table } from "../table.ts";

export const TEXT_TABLES: readonly Table[] = [
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

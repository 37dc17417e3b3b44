import { OF_PROJECT, type Table } from "../table.ts";

export const SHARE_TABLES: readonly Table[] = [
  /** `segments` is a JSON array of properties. `token` is a hash. */
  {
    name: "shares",
    columns: `project_id int, id int, name text, token_hash text, trend_id int?, segments text, shows_comments int,
      created_at int, expires_at int?`,
    key: "project_id, id",
    references: [OF_PROJECT],
    indexes: { shares_by_token: "(token_hash)" },
  },
  /** `tally` is JSON. A missing day is counted again: changing one of its responses deletes the row. */
  {
    name: "share_days",
    isClustered: true,
    columns: "project_id int, day int, share_id int, tally text",
    key: "project_id, day, share_id",
    references: ["(project_id, share_id) REFERENCES shares (project_id, id) ON DELETE CASCADE"],
    indexes: { share_days_by_share: "(project_id, share_id, day)" },
  },
];

/** Rows of the store as a whole. */
import type { Table } from "../table.ts";

export const STORE_TABLES: readonly Table[] = [
  { name: "store_secrets", columns: `name text, value text`, key: "name" },
  /**
   * `moved`: the place its data was moved to; `filling`: the command that fills it; `erasures`: the log next to the
   * file; `address`: the place that links lead to; `bounce address`.
   */
  { name: "store_marks", columns: `name text, value text`, key: "name" },
  /** Work that is left to do, as JSON. */
  { name: "upkeep_state", columns: `name text, value text`, key: "name" },
  /** Those that deliver from one database, and when each was last known to live. */
  { name: "processes", columns: `name text, seen_at int`, key: "name" },
];

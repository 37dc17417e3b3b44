import type { Table } from "../table.ts";

export const STORE_TABLES: readonly Table[] = [
  { name: "store_secrets", columns: `name text, value text`, key: "name" },
  /**
   * `moved`: where the data was moved to; `filling`: the command that fills the store; `erasures`: the log next to the
   * file; `address`: the base of links; `bounce address`.
   */
  { name: "store_marks", columns: `name text, value text`, key: "name" },
  { name: "upkeep_state", columns: `name text, value text`, key: "name" },
  /** Processes that deliver from this database, and when each was last seen. */
  { name: "processes", columns: `name text, seen_at int`, key: "name" },
];

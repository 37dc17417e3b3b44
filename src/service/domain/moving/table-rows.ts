import { TABLES } from "../../sql/schema/baseline.ts";
import { Rows } from "../../sql/rows.ts";
import { textOrNull } from "../../sql/database.ts";

export type TableRow = Readonly<Record<string, string | number | null>>;

/**
 * `filling`: the command that hasn't finished filling the store. `moved`: where the data is now. Either one prevents
 * opening the store. `erasures`: path of the erasure log, so that a copy of the data file can find it. The server that
 * started last sets the others.
 */
export type StoreMark = "erasures" | "filling" | "moved" | "address" | "listening" | "bounce address";

/** Tables about the store itself, which aren't copied. */
const OWN_TABLES = new Set(["store_marks", "processes"]);

/** Tables and their keys, ordered so that rows come after those they refer to. */
export const TABLE_KEYS: Readonly<Record<string, readonly string[]>> = Object.fromEntries(
  TABLES.filter(({ name }) => !OWN_TABLES.has(name)).map(({ name, key }) => [name, key.split(", ")]),
);

/** Parameters per statement; engines allow 32,766 or more. */
const PARAMETERS_MAX = 10_000;

export class TableRows extends Rows {
  readonly names: readonly string[] = Object.keys(TABLE_KEYS);

  /** Returns whole rows in key order, starting after the given one. */
  async page(table: string, after: TableRow | null, limit: number): Promise<readonly TableRow[]> {
    const key = TABLE_KEYS[table] ?? [];
    const marks = key.map(() => "?").join(", ");
    const where = after === null ? "" : `WHERE (${key.join(", ")}) > (${marks})`;
    const values = after === null ? [] : key.map((column) => after[column] ?? null);
    return this.database.all(`SELECT * FROM ${table} ${where} ORDER BY ${key.join(", ")} LIMIT ?`, [...values, limit]);
  }

  async insert(table: string, rows: readonly TableRow[]): Promise<void> {
    const columns = Object.keys(rows[0] ?? {});
    const step = Math.max(1, Math.floor(PARAMETERS_MAX / columns.length));
    for (let at = 0; at < rows.length; at += step) await this.#insertSome(table, columns, rows.slice(at, at + step));
  }

  async #insertSome(table: string, columns: readonly string[], rows: readonly TableRow[]): Promise<void> {
    const marks = `(${columns.map(() => "?").join(", ")})`;
    await this.database.run(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES ${rows.map(() => marks).join(", ")}`,
      rows.flatMap((row) => columns.map((column) => row[column] ?? null)),
    );
  }

  async clear(table: string): Promise<void> {
    await this.database.run(`DELETE FROM ${table}`);
  }

  async version(project: number): Promise<number> {
    const sql = "SELECT version FROM project_state WHERE project_id = ?";
    return Number((await this.database.first(sql, [project]))?.version ?? 0);
  }

  async mark(name: StoreMark): Promise<string | null> {
    const row = await this.database.first("SELECT value FROM store_marks WHERE name = ?", [name]);
    return textOrNull(row?.value);
  }

  async setMark(name: StoreMark, value: string | null): Promise<void> {
    if (value === null) this.database.send("DELETE FROM store_marks WHERE name = ?", [name]);
    else
      this.database.send(
        `INSERT INTO store_marks (name, value) VALUES (?, ?)
           ON CONFLICT (name) DO UPDATE SET value = excluded.value`,
        [name, value],
      );
  }
}

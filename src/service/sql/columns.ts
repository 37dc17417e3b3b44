import type { SqlValue } from "./database.ts";

export function selectList(columns: Readonly<Record<string, string>>, alias?: string): string {
  const prefix = alias === undefined ? "" : `${alias}.`;
  return Object.entries(columns)
    .map(([field, column]) => `${prefix}${column} AS "${field}"`)
    .join(", ");
}

export function insertSql(table: string, columns: readonly string[]): string {
  return `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")})`;
}

export function renameFields<Field extends string>(
  columns: Readonly<Record<Field, string>>,
  row: Readonly<Record<Field, SqlValue>>,
): Record<string, SqlValue> {
  return Object.fromEntries((Object.keys(columns) as Field[]).map((field) => [columns[field], row[field]]));
}

/** For UPDATE: assignments of the changed fields, and their values. */
export function assign<Field extends string>(
  columns: Readonly<Record<Field, string>>,
  change: Readonly<Partial<Record<Field, SqlValue>>>,
): { readonly sets: string; readonly values: readonly SqlValue[] } {
  const named = (Object.keys(columns) as Field[]).filter((field) => change[field] !== undefined);
  return {
    sets: named.map((field) => `${columns[field]} = ?`).join(", "),
    values: named.map((field) => change[field] ?? null),
  };
}

import type { SqlRow, SqlValue } from "./sql-values.ts";

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

/** The keys of all members of a union. */
type Alias<Row> = (Row extends unknown ? keyof Row : never) | `${string}.${string}`;

interface ColumnKinds<Row> {
  readonly json?: readonly Alias<Row>[];
  /** Columns stored as 0 or 1. */
  readonly flags?: readonly Alias<Row>[];
}

/** Reads a row whose aliases are the fields of `Row`; dots nest them, as in `person.id`. */
export function readRow<Row extends object>(row: SqlRow, { json = [], flags = [] }: ColumnKinds<Row> = {}): Row {
  const read: Record<string, unknown> = {};
  for (const [alias, value] of Object.entries(row)) {
    const path = alias.split(".");
    const name = path.pop() ?? alias;
    const place = path.reduce((outer, part) => (outer[part] ??= {}) as typeof read, read);
    const isJson = value !== null && (json as readonly string[]).includes(alias);
    const plain = (flags as readonly string[]).includes(alias) ? value === 1 : value;
    place[name] = isJson ? (JSON.parse(String(value)) as unknown) : plain;
  }
  return read as Row;
}

/**
 * Merges waiting statements of one text into one statement over all their values: each message, with its plan and
 * answer, costs a server more than one more row.
 */
import type { SqlValue } from "../sql/database.ts";

/** An array is a parameter that holds a column. */
export type SqlParameter = SqlValue | readonly SqlValue[];
type Values = readonly SqlValue[];

export interface Merged {
  readonly sql: string;
  readonly values: readonly SqlParameter[];
}

/** By text and shape, in two maps: a newly concatenated key must be hashed in full at each look-up. */
const texts = new Map<string, Map<string, string | null>>();

function textOf(sql: string, shape: string, make: () => string | null): string | null {
  const ofSql = texts.get(sql) ?? new Map<string, string | null>();
  const known = ofSql.get(shape);
  if (known !== undefined) return known;
  const text = make();
  texts.set(sql, ofSql.set(shape, text));
  return text;
}

/** Rows of a merged INSERT, at most. */
const ROWS_MAX = 64;
const INSERT = /^\s*INSERT INTO \w+\s*\([^)]+\)\s*VALUES\s*(\([\s?,]+\))\s*$/;

/** Statements that store all rows, a power of two each, so that there are few texts; null for no plain INSERT. */
export function mergeInserts(sql: string, rows: readonly Values[]): readonly Merged[] | null {
  const merged: Merged[] = [];
  for (let from = 0; from < rows.length;) {
    const count = Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows.length - from)));
    const text = textOf(sql, String(count), () => toInsert(sql, count));
    if (text === null) return null;
    const values: SqlValue[] = [];
    for (let at = from; at < from + count; at += 1) values.push(...(rows[at] ?? []));
    merged.push({ sql: text, values });
    from += count;
  }
  return merged;
}

function toInsert(sql: string, count: number): string | null {
  const [, row = null] = INSERT.exec(sql) ?? [];
  return row === null ? null : sql.trimEnd() + `, ${row}`.repeat(count - 1);
}

/** In a row of a merged SELECT: which of the values it belongs to, from 1. */
export const MERGED_AT = "merged_at";

/**
 * One statement that looks up what several of one text look up, by the index that each of them would use. Null for a
 * text that cannot be merged, or when no value shows the type of a parameter.
 */
export function mergeSelects(sql: string, all: readonly Values[]): Merged | null {
  return mergeColumns(sql, all, toSelect);
}

function toSelect(sql: string, { types, names, fill }: Columns): string | null {
  if (!/^\s*SELECT\b/.test(sql) || /\b(?:OFFSET|FOR (?:NO KEY )?UPDATE)\b/.test(sql)) return null;
  // OFFSET 0 keeps the planner from reading all of a table that was small when the plan was made.
  return `SELECT k.${MERGED_AT}, q.* FROM unnest(${types}) WITH ORDINALITY AS k(${names}, ${MERGED_AT})
    CROSS JOIN LATERAL (${fill(sql)} OFFSET 0) AS q`;
}

/** One statement that makes the changes of several, each of another row; null as above. */
export function mergeUpdates(sql: string, all: readonly Values[]): Merged | null {
  return mergeColumns(sql, all, toUpdate);
}

function toUpdate(sql: string, { types, names, fill }: Columns): string | null {
  const [, head, where] = /^\s*(UPDATE \w+ SET [^]+?) (WHERE [^]+)$/.exec(sql) ?? [];
  if (head === undefined || where === undefined) return null;
  return `${fill(head)} FROM unnest(${types}) AS k(${names}) ${fill(where)}`;
}

interface Columns {
  readonly types: string;
  readonly names: string;
  /** Replaces parameters by columns. A text may be filled part by part: each part takes the columns that are left. */
  readonly fill: (sql: string) => string;
}

function mergeColumns(
  sql: string,
  all: readonly Values[],
  make: (sql: string, columns: Columns) => string | null,
): Merged | null {
  const count = all[0]?.length ?? 0;
  const values = Array.from({ length: count }, (_, at) => all.map((one) => one[at] ?? null));
  const types = values.map(typeOf);
  if (count === 0 || types.includes(null)) return null;
  const text = textOf(sql, types.join(), () => make(sql, toColumns(types)));
  return text === null ? null : { sql: text, values };
}

function typeOf(column: Values): string | null {
  const known = column.find((value) => value !== null);
  return known === undefined ? null : typeof known === "number" ? "BIGINT[]" : "TEXT[]";
}

function toColumns(types: readonly (string | null)[]): Columns {
  const names = types.map((_, at) => `k${at + 1}`);
  const left = [...names];
  return {
    types: types.map((type) => `CAST(? AS ${type})`).join(", "),
    names: names.join(", "),
    fill: (sql) => sql.replaceAll("?", () => `k.${left.shift()}`),
  };
}

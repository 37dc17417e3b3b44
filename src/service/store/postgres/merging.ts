/**
 * Statements of one text that wait to be sent together, as one statement over all their values: a server spends more on
 * each message, its plan and its answer than on one row more.
 */
import type { SqlValue } from "../sql/database.ts";

/** An array is a parameter that holds a column. */
export type SqlParameter = SqlValue | readonly SqlValue[];
type Values = readonly SqlValue[];

export interface Merged {
  readonly sql: string;
  readonly values: readonly SqlParameter[];
}

/** Rows of a merged INSERT, at most. */
const ROWS_MAX = 64;
const INSERT = /^\s*INSERT INTO \w+\s*\([^)]+\)\s*VALUES\s*(\([\s?,]+\))\s*$/;

/** Statements that store all rows, a power of two each, so that there are few texts; null for no plain INSERT. */
export function mergeInserts(sql: string, rows: readonly Values[]): readonly Merged[] | null {
  const [, row = null] = INSERT.exec(sql) ?? [];
  if (row === null) return null;
  const merged: Merged[] = [];
  for (let from = 0; from < rows.length;) {
    const count = Math.min(ROWS_MAX, 2 ** Math.floor(Math.log2(rows.length - from)));
    const values = rows.slice(from, from + count).flat();
    merged.push({ sql: sql.trimEnd() + `, ${row}`.repeat(count - 1), values });
    from += count;
  }
  return merged;
}

/** In a row of a merged SELECT: which of the values it belongs to, from 1. */
export const MERGED_AT = "merged_at";

/**
 * One statement that looks up what several of one text ask for, by whatever index each of them would use. Null where the
 * text cannot be asked so, or nothing tells the type of a parameter.
 */
export function mergeSelects(sql: string, all: readonly Values[]): Merged | null {
  const columns = toColumns(all);
  if (columns === null || !/^\s*SELECT\b/.test(sql) || /\b(?:OFFSET|FOR (?:NO KEY )?UPDATE)\b/.test(sql)) return null;
  // OFFSET 0 keeps the planner from reading all of a table that was small when the plan was made.
  const text = `SELECT k.${MERGED_AT}, q.* FROM unnest(${columns.types}) WITH ORDINALITY AS k(${columns.names}, ${MERGED_AT})
    CROSS JOIN LATERAL (${columns.fill(sql)} OFFSET 0) AS q`;
  return { sql: text, values: columns.values };
}

/** One statement that makes the changes of several, each of another row; null as above. */
export function mergeUpdates(sql: string, all: readonly Values[]): Merged | null {
  const columns = toColumns(all);
  const [, head, where] = /^\s*(UPDATE \w+ SET [^]+?) (WHERE [^]+)$/.exec(sql) ?? [];
  if (columns === null || head === undefined || where === undefined) return null;
  const text = `${columns.fill(head)} FROM unnest(${columns.types}) AS k(${columns.names}) ${columns.fill(where)}`;
  return { sql: text, values: columns.values };
}

interface Columns {
  readonly types: string;
  readonly names: string;
  readonly values: readonly Values[];
  /** Puts the columns where the parameters are; in a text that is given in parts, the part's own. */
  readonly fill: (sql: string) => string;
}

function toColumns(all: readonly Values[]): Columns | null {
  const count = all[0]?.length ?? 0;
  const values = Array.from({ length: count }, (_, at) => all.map((one) => one[at] ?? null));
  const types = values.map((column) => {
    const known = column.find((value) => value !== null);
    return known === undefined ? null : typeof known === "number" ? "BIGINT[]" : "TEXT[]";
  });
  if (count === 0 || types.includes(null)) return null;
  const names = values.map((_, at) => `k${at + 1}`);
  const left = [...names];
  return {
    types: types.map((type) => `CAST(? AS ${type})`).join(", "),
    names: names.join(", "),
    values,
    fill: (sql) => sql.replaceAll("?", () => `k.${left.shift()}`),
  };
}

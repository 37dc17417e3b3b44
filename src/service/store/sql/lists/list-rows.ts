/** The rows of a list between two keys: what they add up to. */
import type { TimeRange } from "../../../domain/inputs.ts";
import { scoreSums } from "../schema/list-blocks-schema.ts";
import type { Database, SqlValue } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";
import { addCondition, copyWhere, type Where, whereSql } from "./fragments.ts";

/** Sort key of a row: a time and an id. */
export type Key = readonly [at: number, id: number];

/** Where the first block of each list begins, so that every key is in a block. */
export const BEGINNING: Key = [Number.MIN_SAFE_INTEGER, 0];

export const ALL_TIME: TimeRange = { since: null, until: null };

export interface ListCounts {
  readonly rowCount: number;
  readonly promoters: number;
  readonly detractors: number;
  /** Rows without a score that counts. */
  readonly unscored: number;
}

export const NOTHING: ListCounts = { rowCount: 0, promoters: 0, detractors: 0, unscored: 0 };

export interface Sums extends ListCounts {
  readonly leastOther: number;
  readonly mostOther: number;
}

/** What a block of the rows from one key up to, but not including, another has; null for no bound. */
export async function sumRows(database: Database, list: CountedList, from: Key | null, to: Key | null): Promise<Sums> {
  const other = list.other ?? "0";
  const bounds = `coalesce(min(${other}), 0) AS "leastOther", coalesce(max(${other}), 0) AS "mostOther"`;
  return (await database.first(...tallySql(list, betweenKeys(list, from, to, ALL_TIME), bounds))) as unknown as Sums;
}

/** The same counts of those in a range of time. The other time would cost as much again. */
export async function countRows(
  database: Database,
  list: CountedList,
  { first, end }: { readonly first: Key | null; readonly end: Key | null },
  range: TimeRange,
): Promise<ListCounts> {
  return (await database.first(...tallySql(list, betweenKeys(list, first, end, range)))) as unknown as ListCounts;
}

function tallySql(list: CountedList, where: Where, ...more: readonly string[]): [sql: string, values: SqlValue[]] {
  const { promoters, detractors, unscored } = scoreSums(list.isScored);
  const counts = [`count(*) AS "rowCount"`, `${promoters} AS promoters`, `${detractors} AS detractors`];
  const columns = [...counts, `${unscored} AS unscored`, ...more].join(", ");
  return [`SELECT ${columns} FROM ${list.table} WHERE ${whereSql(where)}`, where.values];
}

/**
 * The list's rows in a range of its time, from one key up to, but not including, another: of two bounds the closer one.
 */
export function betweenKeys(list: CountedList, from: Key | null, to: Key | null, range: TimeRange): Where {
  const where = copyWhere(list.where);
  const [at] = list.key;
  const key = `(${list.key.join(", ")})`;
  const { since, until } = range;
  if (from !== null && from[0] >= (since ?? BEGINNING[0] + 1)) addCondition(where, `${key} >= (?, ?)`, ...from);
  else if (since !== null) addCondition(where, `${at} >= ?`, since);
  // SQLite searches by one bound of a pair only; the plain one tells it where to end.
  if (to !== null && to[0] <= (until ?? to[0])) addCondition(where, `${at} <= ? AND ${key} < (?, ?)`, to[0], ...to);
  else if (until !== null) addCondition(where, `${at} <= ?`, until);
  return where;
}

/** Pages by number: the day in which a page begins is found by adding up days, see `list-tallies.ts`. */
import { utcDay } from "../../../../runtime/zone.ts";
import type { TimeRange } from "../../../domain/inputs.ts";
import type { CountedList } from "./counted-lists.ts";
import { addRange, copyWhere, type Where } from "./fragments.ts";
import { type ListTallies, splitRange, wholeDay } from "./list-tallies.ts";

export interface PageQuery {
  readonly list: CountedList;
  /** Bounds of the list's own time. */
  readonly range: TimeRange;
  /** Bounds of its other time, and the same rows in the order of that one; null where there are no such bounds. */
  readonly other: { readonly range: TimeRange; readonly list: CountedList } | null;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** Some rows of the list's table: those that meet `where`, in this order, `limit` after the first `offset`. */
export interface Slice {
  readonly where: Where;
  /** Columns and directions for ORDER BY. */
  readonly order: string;
  /** True when an index has the rows in that order; otherwise they are sorted. */
  readonly isIndexed: boolean;
  readonly limit: number;
  readonly offset: number;
  /** True when the rows come in the opposite order of the page's. */
  readonly isReversed: boolean;
}

/**
 * Rows that a bound of the other time leaves, as a share of all: fewer are quicker to sort than to find among the
 * others.
 */
const SORT_SHARE = 1 / 10;
/** As many rows are quickly passed over. */
const NEAR = 10_000;

/** The part of the list's table that is the page; null past the end. */
export async function findPage(tallies: ListTallies, query: PageQuery): Promise<Slice | null> {
  const { range, other, offset } = query;
  if (other !== null) return (await areFew(tallies, query, other)) ? sorted(query, other.range) : inOrder(query, range);
  if (offset === 0) return inOrder(query, range);
  const slice = await findSlice(tallies, query);
  if (slice === null || slice.offset <= NEAR) return slice;
  const fromEnd = await findFromEnd(tallies, query);
  return fromEnd === null || fromEnd.offset < slice.offset ? fromEnd : slice;
}

async function findSlice(tallies: ListTallies, query: PageQuery): Promise<Slice | null> {
  const start = await findStart(tallies, query);
  return start === null ? null : { ...inOrder(query, start.range), offset: start.skip };
}

/** The same rows by the number of those behind them. */
async function findFromEnd(tallies: ListTallies, query: PageQuery): Promise<Slice | null> {
  const { list, range, descending, offset } = query;
  const left = (await tallies.count(list, range)) - offset;
  if (left <= 0) return null;
  const limit = Math.min(query.limit, left);
  const slice = await findSlice(tallies, { ...query, descending: !descending, offset: left - limit, limit });
  return slice === null ? null : { ...slice, isReversed: true };
}

async function areFew(
  tallies: ListTallies,
  { list, range }: PageQuery,
  other: NonNullable<PageQuery["other"]>,
): Promise<boolean> {
  return (await tallies.count(other.list, other.range)) <= (await tallies.count(list, range)) * SORT_SHARE;
}

/** The range from the day in which a page begins, and how many of its rows come before it; null past the end. */
async function findStart(
  tallies: ListTallies,
  { list, range, descending, offset }: PageQuery,
): Promise<{ readonly range: TimeRange; readonly skip: number } | null> {
  const parts = splitRange(range);
  let skip = offset;
  for (const part of descending ? parts.toReversed() : parts) {
    if (part.kind === "days") {
      const found = await tallies.findDay(list, part.days, skip, descending);
      if (found.day !== null) return { range: onwards(wholeDay(found.day), range, descending), skip: found.skip };
      skip = found.skip;
      continue;
    }
    // It may have fewer rows than its day: the page then begins behind it, which its offset finds as well.
    const start = { range: onwards(part.range, range, descending), skip };
    if (skip < (await tallies.count(list, wholeDay(utcDay(part.range.since))))) return start;
    const count = await tallies.count(list, part.range);
    if (skip < count) return start;
    skip -= count;
  }
  return null;
}

/** The range without what comes before this part of it in the page's direction. */
function onwards(part: TimeRange, range: TimeRange, descending: boolean): TimeRange {
  return descending ? { since: range.since, until: part.until } : { since: part.since, until: range.until };
}

function orderOf({ list, descending }: PageQuery, sign = ""): string {
  const direction = descending ? "DESC" : "ASC";
  return list.key.map((column) => `${sign}${column} ${direction}`).join(", ");
}

/** The list's rows in a range of its time, in the order of the index. */
function inOrder(query: PageQuery, range: TimeRange): Slice {
  const { list, other, limit, offset } = query;
  const where = copyWhere(list.where);
  addRange(where, list.key[0], range);
  // The sign keeps SQLite to the index that has the list's order.
  if (other !== null) addRange(where, `+${list.other}`, other.range);
  return { where, order: orderOf(query), isIndexed: true, limit, offset, isReversed: false };
}

/** Found by the other time, then sorted. */
function sorted(query: PageQuery, otherRange: TimeRange): Slice {
  const { list, range, limit, offset } = query;
  const where = copyWhere(list.where);
  addRange(where, `${list.other}`, otherRange);
  addRange(where, `+${list.key[0]}`, range);
  return { where, order: orderOf(query, "+"), isIndexed: false, limit, offset, isReversed: false };
}

/** Pages by number: the day in which a page begins is found by the counts of days. */
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { TimeRange } from "./fragments.ts";
import type { Database } from "../database.ts";
import type { OrderedList } from "./counted-lists.ts";
import { addRange, copyWhere, type Where } from "./fragments.ts";
import { countRows, findDay } from "./list-counts.ts";

export interface PageQuery {
  readonly list: OrderedList;
  /** Bounds of the list's own time. */
  readonly range: TimeRange;
  /** Bounds of its other time, and the same rows in the order of that one; null where there are no such bounds. */
  readonly other: { readonly range: TimeRange; readonly list: OrderedList } | null;
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
export async function findPage(database: Database, query: PageQuery): Promise<Slice | null> {
  const { range, other, offset } = query;
  if (other !== null)
    return (await areFew(database, query, other)) ? sorted(query, other.range) : inOrder(query, range);
  if (offset === 0) return inOrder(query, range);
  const slice = await findSlice(database, query);
  if (slice === null || slice.offset <= NEAR) return slice;
  const fromEnd = await findFromEnd(database, query);
  return fromEnd === null || fromEnd.offset < slice.offset ? fromEnd : slice;
}

/** The page as a part of the list from the day on in which it begins. */
async function findSlice(database: Database, query: PageQuery): Promise<Slice | null> {
  const { list, range, descending, offset } = query;
  const outside = before(range, descending);
  const skip = offset + (outside === null ? 0 : await countRows(database, list, outside));
  const found = await findDay(database, list, skip, descending ? "descending" : "ascending");
  if (found === null) return null;
  const begin = found.day * DAY_SECONDS;
  const rest = descending ? { ...range, until: begin + DAY_SECONDS - 1 } : { ...range, since: begin };
  return { ...inOrder(query, rest), offset: found.skip };
}

/** What comes before a range in a page's direction; null if nothing does. */
function before({ since, until }: TimeRange, descending: boolean): TimeRange | null {
  if (descending) return until === null ? null : { since: until + 1, until: null };
  return since === null ? null : { since: null, until: since - 1 };
}

/** The same rows by the number of those behind them. */
async function findFromEnd(database: Database, query: PageQuery): Promise<Slice | null> {
  const { list, range, descending, offset } = query;
  const left = (await countRows(database, list, range)) - offset;
  if (left <= 0) return null;
  const limit = Math.min(query.limit, left);
  const slice = await findSlice(database, { ...query, descending: !descending, offset: left - limit, limit });
  return slice === null ? null : { ...slice, isReversed: true };
}

async function areFew(
  database: Database,
  { list, range }: PageQuery,
  other: NonNullable<PageQuery["other"]>,
): Promise<boolean> {
  return (await countRows(database, other.list, other.range)) <= (await countRows(database, list, range)) * SORT_SHARE;
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

/** Numbered pages: the counts per day show on which day a page begins. */
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { TimeRange } from "./fragments.ts";
import type { Database } from "../database.ts";
import type { OrderedList } from "./counted-lists.ts";
import { addRange, copyWhere, type Where } from "./fragments.ts";
import { countRows, findDay } from "./list-counts.ts";

export interface PageQuery {
  readonly list: OrderedList;
  readonly range: TimeRange;
  /** Bounds on the list's other time, and the list ordered by that time; null without bounds. */
  readonly other: { readonly range: TimeRange; readonly list: OrderedList } | null;
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

export interface Slice {
  readonly where: Where;
  readonly order: string;
  /** True if an index has this order; otherwise rows are sorted. */
  readonly isIndexed: boolean;
  readonly limit: number;
  readonly offset: number;
  readonly isReversed: boolean;
}

/** Below this share of matching rows, sorting them is faster than picking them out of the ordered list. */
const SORT_SHARE = 1 / 10;
const NEAR = 10_000;

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

/** The range that precedes this one in the page's order; null if there is none. */
function before({ since, until }: TimeRange, descending: boolean): TimeRange | null {
  if (descending) return until === null ? null : { since: until + 1, until: null };
  return since === null ? null : { since: null, until: since - 1 };
}

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

function orderBy({ list, descending }: PageQuery, sign = ""): string {
  const direction = descending ? "DESC" : "ASC";
  return list.key.map((column) => `${sign}${column} ${direction}`).join(", ");
}

function inOrder(query: PageQuery, range: TimeRange): Slice {
  const { list, other, limit, offset } = query;
  const where = copyWhere(list.where);
  addRange(where, list.key[0], range);
  // The `+` keeps SQLite on the index with the list's order.
  if (other !== null) addRange(where, `+${list.other}`, other.range);
  return { where, order: orderBy(query), isIndexed: true, limit, offset, isReversed: false };
}

function sorted(query: PageQuery, otherRange: TimeRange): Slice {
  const { list, range, limit, offset } = query;
  const where = copyWhere(list.where);
  addRange(where, `${list.other}`, otherRange);
  addRange(where, `+${list.key[0]}`, range);
  return { where, order: orderBy(query, "+"), isIndexed: false, limit, offset, isReversed: false };
}

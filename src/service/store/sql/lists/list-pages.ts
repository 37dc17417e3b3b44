/** Pages by number, found without passing over the rows before them: by the blocks of a list, see `list-blocks.ts`. */
import type { TimeRange } from "../../../domain/inputs.ts";
import type { Database } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";
import { type Block, lastBlock } from "./known-blocks.ts";
import { betweenKeys, type Key } from "./list-rows.ts";
import type { ListBlocks } from "./list-blocks.ts";
import { addRange, copyWhere, type Where, whereSql } from "./fragments.ts";

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
  /** Whether an index has the rows in that order; otherwise they are sorted. */
  readonly isIndexed: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** As a part of the longest block: rows that are quicker to pass over than to jump. */
const SKIP_SHARE = 1 / 4;
/** The same: rows that are quicker to sort than to find among the others. */
const SORT_SHARE = 2;

/** The page's rows, by one or more slices. */
export async function readPage<Row>(
  database: Database,
  blocks: ListBlocks,
  query: PageQuery,
  fetch: (slice: Slice) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const { list, other, offset, limit } = query;
  const order = orderOf(query);
  if (other === null && offset <= blocks.max * SKIP_SHARE)
    return fetch({ where: within(query), order, isIndexed: true, limit, offset });
  if (other !== null && (await blocks.count(other.list, other.range)) <= blocks.max * SORT_SHARE)
    return fetch(sorted(query, other.range));
  const known = await blocks.read(list);
  if (other === null) {
    const start = await findStart(database, query, known);
    if (start === null) return [];
    const where = onwards(query, start.first, start.end);
    return fetch({ where, order, isIndexed: true, limit, offset: start.skip });
  }
  const rows: Row[] = [];
  for await (const { first, end, skip } of findStretches(database, query, known)) {
    const where = within(query, first, end);
    rows.push(...(await fetch({ where, order, isIndexed: true, limit: limit - rows.length, offset: skip })));
    if (rows.length >= limit) break;
  }
  return rows;
}

/**
 * The block in which a page begins, where all rows of the list's own range are asked for: only the blocks at the two
 * ends of the range may hold others, too. Null when the page is past the end.
 */
async function findStart(database: Database, query: PageQuery, blocks: readonly Block[]): Promise<Stretch | null> {
  const { range, descending, offset } = query;
  const { since, until } = range;
  // The first block begins before all time.
  const from = since === null ? 0 : lastBlock(blocks, ({ first }) => first[0] < since);
  const to = until === null ? blocks.length - 1 : lastBlock(blocks, ({ first }) => first[0] <= until);
  const near = blocks[descending ? to : from];
  if (near === undefined || to < from) return null;
  const [nearBound, farBound] = descending ? [until, since] : [since, until];
  const isWhole = nearBound === null && (from < to || farBound === null);
  const count = isWhole ? near.rowCount : await countRows(database, query, near);
  if (offset < count) return { first: near.first, end: near.end, skip: offset };
  // The place in the whole list of the page's first row, or of the one behind it.
  const place = descending
    ? near.before.rowCount - (offset - count)
    : near.before.rowCount + near.rowCount + (offset - count);
  const at = descending
    ? lastBlock(blocks, ({ before }) => before.rowCount < place)
    : lastBlock(blocks, ({ before }) => before.rowCount <= place);
  const block = blocks[at];
  if (block === undefined || at < from || at > to) return null;
  const skip = descending ? block.before.rowCount + block.rowCount - place : place - block.before.rowCount;
  return { first: block.first, end: block.end, skip };
}

/** Blocks side by side, and how many of their rows come before the page. */
interface Stretch {
  readonly first: Key;
  readonly end: Key | null;
  readonly skip: number;
}

/**
 * Where the other time is bound, too: the page's blocks in its direction, from the one in which it begins; no further
 * ahead than it surely reaches.
 */
async function* findStretches(database: Database, query: PageQuery, blocks: readonly Block[]): AsyncGenerator<Stretch> {
  let skip = query.offset;
  let stretch: Stretch | null = null;
  let rowCount = 0;
  for (let step = 0; step < blocks.length; step += 1) {
    const block = blocks[query.descending ? blocks.length - 1 - step : step];
    if (block === undefined || block.rowCount === 0) continue;
    const share = shareOf(block, query);
    if (share === "none") continue;
    if (stretch === null && skip > 0) {
      const before = share === "whole" ? block.rowCount : await countRows(database, query, block);
      if (skip >= before) {
        skip -= before;
        continue;
      }
    }
    const joined: Stretch | null = stretch === null ? null : join(stretch, block);
    if (stretch !== null && (joined === null || rowCount >= stretch.skip + query.limit)) {
      yield stretch;
      stretch = { first: block.first, end: block.end, skip: 0 };
      rowCount = 0;
    } else stretch = joined ?? { first: block.first, end: block.end, skip };
    rowCount += share === "whole" ? block.rowCount : 0;
  }
  if (stretch !== null) yield stretch;
}

/** A stretch and the block beside it, in either direction; null when they do not touch. */
function join(stretch: Stretch, { first, end }: Block): Stretch | null {
  if (isSameKey(stretch.end, first)) return { ...stretch, end };
  return isSameKey(stretch.first, end) ? { ...stretch, first } : null;
}

/** How much of a block the query asks for, as far as its bounds tell. */
function shareOf({ first, end, leastOther, mostOther }: Block, { range, other }: PageQuery): "none" | "part" | "whole" {
  const own = overlap(range, first[0], end?.[0] ?? Number.MAX_SAFE_INTEGER);
  if (other === null || own === "none") return own;
  const others = overlap(other.range, leastOther, mostOther);
  return own === "whole" ? others : others === "none" ? "none" : "part";
}

/** How much of a stretch of time, both ends included, lies in a range. */
function overlap({ since, until }: TimeRange, from: number, to: number): "none" | "part" | "whole" {
  if ((since !== null && to < since) || (until !== null && from > until)) return "none";
  return (since === null || from >= since) && (until === null || to <= until) ? "whole" : "part";
}

async function countRows(database: Database, query: PageQuery, { first, end }: Block): Promise<number> {
  const where = within(query, first, end);
  const sql = `SELECT count(*) AS count FROM ${query.list.table} WHERE ${whereSql(where)}`;
  return Number((await database.first(sql, where.values))?.count);
}

function isSameKey(left: Key | null, right: Key | null): boolean {
  return left !== null && right !== null && left[0] === right[0] && left[1] === right[1];
}

function orderOf({ list, descending }: PageQuery, sign = ""): string {
  const direction = descending ? "DESC" : "ASC";
  return list.key.map((column) => `${sign}${column} ${direction}`).join(", ");
}

/** The list's rows that the query asks for, from one key up to, but not including, another. */
function within({ list, range, other }: PageQuery, from: Key | null = null, to: Key | null = null): Where {
  const where = betweenKeys(list, from, to, range);
  // The sign keeps SQLite to the index that has the list's order.
  if (other !== null) addRange(where, `+${list.other}`, other.range);
  return where;
}

/** The same without a bound at the far end: where no row is left out, the limit alone ends the search at no cost a row. */
function onwards(query: PageQuery, first: Key, end: Key | null): Where {
  return query.descending ? within(query, null, end) : within(query, first);
}

/** Found by the other time, then sorted. */
function sorted(query: PageQuery, otherRange: TimeRange): Slice {
  const { list, range, limit, offset } = query;
  const where = copyWhere(list.where);
  addRange(where, `${list.other}`, otherRange);
  addRange(where, `+${list.key[0]}`, range);
  return { where, order: orderOf(query, "+"), isIndexed: false, limit, offset };
}

/** The blocks of a list as rows, and as they were last read. See `list-blocks.ts`. */
import type { Database, SqlRow, SqlValue } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";
import { type ListCounts, type Key, NOTHING } from "./list-rows.ts";

export interface Block extends ListCounts {
  /** No row of the block comes before it. */
  readonly first: Key;
  /** Where the next block begins; null for the last one. */
  readonly end: Key | null;
  /** Of the rows of the list in the blocks before it. */
  readonly before: ListCounts;
  /** Bounds of the other time of every row; they may be wider than necessary. */
  readonly leastOther: number;
  readonly mostOther: number;
}

/** Lists whose blocks are kept in memory; a million rows make about 8,000 blocks. */
const KNOWN_MAX = 64;
/** Blocks that are read again one by one; of more, the list is read again. */
const CHANGED_MAX = 64;
export const BLOCK = "project_id = ? AND list = ?";

/**
 * Blocks as they were last read: to read them all would be half of what a page far back costs. Where several
 * processes write them, none is remembered.
 */
export interface KnownBlocks {
  readonly read: (list: CountedList) => Promise<readonly Block[]>;
  /** The block that holds this key may have other counts, or have become several. */
  readonly renew: (list: CountedList, key: Key) => void;
  /** The list may have other blocks anywhere. */
  readonly forget: (list: CountedList) => void;
  /** So may all lists. */
  readonly forgetAll: () => void;
}

/** What a write has changed is read again after it, so a write that is rolled back leaves nothing behind. */
export function createKnownBlocks(database: Database, isShared: boolean): KnownBlocks {
  const known = new Map<string, { readonly blocks: Block[]; readonly changed: Key[] }>();
  return {
    read: async (list) => {
      if (database.writing || isShared) return readBlocks(database, list);
      const found = known.get(listName(list));
      if (found !== undefined && (await renewBlocks(database, list, found))) return found.blocks;
      const blocks = await readBlocks(database, list);
      if (known.size >= KNOWN_MAX) known.clear();
      known.set(listName(list), { blocks, changed: [] });
      return blocks;
    },
    renew: (list, key) => {
      const changed = known.get(listName(list))?.changed ?? [];
      if (changed.length < CHANGED_MAX) {
        if (!changed.some((other) => compareKeys(other, key) === 0)) changed.push(key);
      } else known.delete(listName(list));
    },
    forget: (list) => void known.delete(listName(list)),
    forgetAll: () => known.clear(),
  };
}

/** Reads what has changed again; false when the list has to be read anew. */
async function renewBlocks(
  database: Database,
  list: CountedList,
  { blocks, changed }: { readonly blocks: Block[]; readonly changed: Key[] },
): Promise<boolean> {
  for (const key of changed.splice(0)) if (!(await renewBlock(database, list, blocks, key))) return false;
  return true;
}

/** Reads one block again, with those that were cut off it; false when it is gone. */
async function renewBlock(database: Database, list: CountedList, blocks: Block[], key: Key): Promise<boolean> {
  const at = lastBlock(blocks, (block) => compareKeys(block.first, key) <= 0);
  const old = blocks[at];
  if (old === undefined) return false;
  const found = await readBlocks(database, list, old);
  const [first] = found;
  if (first === undefined || compareKeys(first.first, old.first) !== 0) return false;
  blocks.splice(at, 1, ...found);
  countBefore(blocks, at + found.length);
  return true;
}

/** The last of the blocks for which this holds, as it does for all before; -1 when it holds for none. */
export function lastBlock(blocks: readonly Block[], holds: (block: Block) => boolean): number {
  let [low, high] = [0, blocks.length];
  while (low < high) {
    const middle = Math.floor((low + high) / 2);
    const block = blocks[middle];
    if (block !== undefined && holds(block)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/**
 * Corrects the sums behind blocks that were read again, up to one that is right already. In place: to make a new list
 * takes ten times as long.
 */
function countBefore(blocks: readonly Block[], from: number): void {
  for (let at = from; at < blocks.length; at += 1) {
    const [previous, block] = [blocks[at - 1], blocks[at]];
    if (previous === undefined || block === undefined) return;
    const before: { -readonly [Name in keyof ListCounts]: number } = block.before;
    let isRight = true;
    for (const name of COUNTS) {
      const sum = previous.before[name] + previous[name];
      isRight &&= before[name] === sum;
      before[name] = sum;
    }
    if (isRight) return;
  }
}

const COUNTS = ["rowCount", "promoters", "detractors", "unscored"] as const;
const BLOCK_COUNTS =
  'row_count AS "rowCount", promoters, detractors, unscored, least_other AS "leastOther", most_other AS "mostOther"';

export function listName({ project, name }: CountedList): string {
  return `${project} ${name}`;
}

export function which({ project, name }: CountedList): SqlValue[] {
  return [project, name];
}

export function compareKeys(left: Key, right: Key): number {
  return left[0] - right[0] || left[1] - right[1];
}

export function toKey(row: SqlRow | null): Key | null {
  return row === null ? null : [Number(row.first_at), Number(row.first_id)];
}

/** All of them; or what has become of one. */
async function readBlocks(database: Database, list: CountedList, one: Block | null = null): Promise<Block[]> {
  const from = one === null ? "" : "AND (first_at, first_id) >= (?, ?)";
  // SQLite searches by one bound of a pair only; the plain one tells it where to end.
  const to = one?.end ? "AND first_at <= ? AND (first_at, first_id) < (?, ?)" : "";
  const bounds = [...(one?.first ?? []), ...(one?.end ? [one.end[0], ...one.end] : [])];
  const rows = await database.all(
    `SELECT first_at, first_id, ${BLOCK_COUNTS} FROM list_blocks WHERE ${BLOCK} ${from} ${to} ORDER BY first_at, first_id`,
    [...which(list), ...bounds],
  );
  const blocks = rows.map((row, index): Block => {
    const first: Key = [Number(row.first_at), Number(row.first_id)];
    const end = toKey(rows[index + 1] ?? null) ?? one?.end ?? null;
    const { rowCount, promoters, detractors, unscored, leastOther, mostOther } = row as unknown as Block;
    const before = index === 0 ? (one?.before ?? NOTHING) : { ...NOTHING, rowCount: -1 };
    return { first, end, rowCount, promoters, detractors, unscored, leastOther, mostOther, before };
  });
  countBefore(blocks, 1);
  return blocks;
}

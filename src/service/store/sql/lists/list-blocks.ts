/**
 * How many rows lie where in a list, kept in the transaction that changes the list. A list is cut into blocks of
 * neighbouring rows; a block that grows too long is cut in two. To count a range is to add whole blocks and to count
 * rows only at its two ends, so neither the length of the list matters nor how many rows share one second.
 */
import type { TimeRange } from "../../../domain/inputs.ts";
import type { ScoreTally } from "../../../domain/ports.ts";
import type { Database, SqlValue } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";
import { addRange, type Where, whereSql } from "./fragments.ts";
import {
  BLOCK,
  type Block,
  compareKeys,
  createKnownBlocks,
  lastBlock,
  listName,
  toKey,
  which,
} from "./known-blocks.ts";
import {
  ALL_TIME,
  BEGINNING,
  betweenKeys,
  type ListCounts,
  countRows,
  type Key,
  NOTHING,
  type Sums,
  sumRows,
} from "./list-rows.ts";

/** What a list has to know of one of its rows. */
export interface Entry {
  readonly key: Key;
  /** The list's other time; 0 where it has none. */
  readonly other: number;
  /** Null where the list has no scores, and for an answer to another question than that of the NPS. */
  readonly score: number | null;
  /** Whether time and id are this write's own: no other row comes between two such, so they lie in one block. */
  readonly isNew?: boolean;
}

export interface ListBlocks {
  /** The most rows in a block. */
  readonly max: number;
  /** Counts rows that were just stored. */
  add(list: CountedList, ...entries: readonly Entry[]): Promise<void>;
  /** Counts rows out that were just deleted, or are about to be stored elsewhere in the list. */
  remove(list: CountedList, ...entries: readonly Entry[]): Promise<void>;
  /** Forgets a list that is no more. */
  drop(list: CountedList): void;
  /** Before a transaction. */
  forget(): void;
  /** All blocks in order; none for a list that never had a row. */
  read(list: CountedList): Promise<readonly Block[]>;
  /** How many rows lie in a range of the list's own time. */
  count(list: CountedList, range: TimeRange): Promise<number>;
  /** The same by category of score. */
  countScores(list: CountedList, range: TimeRange): Promise<ScoreTally>;
}

/**
 * Longer blocks make a page's start and the ends of a range slow to find; shorter ones the sum over all blocks, and a
 * page far back where all blocks are read for it.
 */
const BLOCK_MAX = { own: 256, shared: 1024 };
const BLOCK_OF_KEY = `SELECT first_at, first_id FROM list_blocks WHERE ${BLOCK} AND (first_at, first_id) <= (?, ?)
  ORDER BY first_at DESC, first_id DESC LIMIT 1`;
const CHANGE = `UPDATE list_blocks
  SET row_count = row_count + ?, promoters = promoters + ?, detractors = detractors + ?, unscored = unscored + ?,
    least_other = CASE WHEN least_other > ? THEN ? ELSE least_other END,
    most_other = CASE WHEN most_other < ? THEN ? ELSE most_other END
  WHERE ${BLOCK} AND (first_at, first_id) = (${BLOCK_OF_KEY})`;
/** Changes nothing unless this key lies in the same block. */
const ALSO = `AND (first_at, first_id) = (${BLOCK_OF_KEY})`;
const CHANGED = `RETURNING first_at, first_id, row_count AS "rowCount"`;

/** `isShared`: other processes change the lists too. */
export function createListBlocks(
  database: Database,
  isShared = false,
  blockMax = isShared ? BLOCK_MAX.shared : BLOCK_MAX.own,
): ListBlocks {
  const known = createKnownBlocks(database, isShared);
  const count = async (list: CountedList, range: TimeRange): Promise<ListCounts> =>
    database.writing || isShared
      ? countRange(database, list, range)
      : countKnown(database, list, range, await known.read(list));
  const newest = createNewest(blockMax);
  return {
    max: blockMax,
    forget: () => forgetAll(newest, known),
    add: async (list, ...entries) => {
      const areNew = isShared && entries.every(({ isNew }) => isNew);
      if (areNew && newest.take(list, entries.length))
        return database.send(CHANGE, changeValues(list, entries, tally(list, entries)));
      for await (const { changed } of changeBlocks(database, list, entries, (some) => tally(list, some))) {
        if (changed !== null && changed.rowCount <= blockMax) {
          known.renew(list, changed.first);
          if (areNew) newest.note(list, changed.rowCount);
          continue;
        }
        newest.leave(list);
        // The first rows of a list, all of them stored.
        if (changed === null) {
          known.forget(list);
          const { rowCount } = await sumRows(database, list, null, null);
          return cut(database, list, { first: BEGINNING, rowCount }, blockMax);
        }
        known.renew(list, changed.first);
        await cut(database, list, changed, blockMax);
      }
    },
    remove: async (list, ...entries) => {
      const change = (some: readonly Entry[]): Sums => toNegative(tally(list, some));
      for await (const { group, changed } of changeBlocks(database, list, entries, change)) {
        if (changed === null) continue;
        if (changed.rowCount > 0) {
          known.renew(list, changed.first);
          continue;
        }
        known.forget(list);
        await deleteEmpty(database, list, keyOf(group));
      }
    },
    drop: (list) => {
      known.forget(list);
      newest.leave(list);
      database.send(`DELETE FROM list_blocks WHERE ${BLOCK}`, which(list));
    },
    read: known.read,
    count: async (list, range) => (await count(list, range)).rowCount,
    countScores: async (list, range) => {
      const { rowCount, promoters, detractors, unscored } = await count(list, range);
      return { promoters, detractors, passives: rowCount - unscored - promoters - detractors };
    },
  };
}

/**
 * For how many rows more the block has room that takes the new ones of a list. As long as it has, they are counted
 * without an answer to wait for. Others may fill the block meanwhile; it is cut once it is looked at.
 */
function createNewest(blockMax: number): {
  readonly take: (list: CountedList, count: number) => boolean;
  readonly note: (list: CountedList, rowCount: number) => void;
  readonly leave: (list: CountedList) => void;
  readonly forget: () => void;
} {
  const room = new Map<string, number>();
  /** Lists whose blocks this transaction has made, and may yet undo. */
  let left = new Set<string>();
  return {
    take: (list, count) => {
      const free = (room.get(listName(list)) ?? 0) - count;
      room.set(listName(list), free);
      return free >= 0;
    },
    note: (list, rowCount) => {
      if (!left.has(listName(list))) room.set(listName(list), blockMax - rowCount);
    },
    leave: (list) => {
      left.add(listName(list));
      room.delete(listName(list));
    },
    forget: () => {
      left = new Set();
    },
  };
}

function keyOf([entry]: readonly Entry[]): Key {
  return entry?.key ?? BEGINNING;
}

/** Entries that lie in one block each. */
async function toGroups(
  database: Database,
  list: CountedList,
  entries: readonly Entry[],
): Promise<(readonly Entry[])[]> {
  const groups: Entry[][] = [];
  let end: Key | null = BEGINNING;
  for (const entry of entries.toSorted((left, right) => compareKeys(left.key, right.key))) {
    if (end === null || compareKeys(entry.key, end) < 0) {
      groups.at(-1)?.push(entry);
      continue;
    }
    groups.push([entry]);
    end = await endOf(database, list, entry.key);
  }
  return groups;
}

function tally({ isScored }: CountedList, entries: readonly Entry[]): Sums {
  const others = entries.map(({ other }) => other);
  const scored = (isIn: (score: number) => boolean): number =>
    entries.filter(({ score }) => score !== null && isIn(score)).length;
  return {
    rowCount: entries.length,
    promoters: scored((score) => score >= 9),
    detractors: scored((score) => score < 7),
    unscored: isScored ? entries.filter(({ score }) => score === null).length : 0,
    leastOther: Math.min(...others),
    mostOther: Math.max(...others),
  };
}

/** Rows that are taken out leave the bounds of the other time as they are. */
function toNegative({ rowCount, promoters, detractors, unscored }: Sums): Sums {
  const bounds = { leastOther: Number.MAX_SAFE_INTEGER, mostOther: Number.MIN_SAFE_INTEGER };
  return {
    rowCount: -rowCount,
    promoters: -promoters,
    detractors: -detractors,
    unscored: -unscored,
    ...bounds,
  };
}

interface ChangedBlock {
  readonly first: Key;
  readonly rowCount: number;
}

/** Block by block; new rows mostly lie in one, so that is tried first. */
async function* changeBlocks(
  database: Database,
  list: CountedList,
  entries: readonly Entry[],
  change: (group: readonly Entry[]) => Sums,
): AsyncGenerator<{ readonly group: readonly Entry[]; readonly changed: ChangedBlock | null }> {
  const changed = await changeBlock(database, list, entries, change(entries));
  const isDone = changed !== null || entries.length <= 1;
  if (isDone) yield { group: entries, changed };
  for (const group of isDone ? [] : await toGroups(database, list, entries))
    yield { group, changed: await changeBlock(database, list, group, change(group)) };
}

/** The block's key and how many rows it then has; null when they do not lie in one, or the list has no block yet. */
async function changeBlock(
  database: Database,
  list: CountedList,
  group: readonly Entry[],
  change: Sums,
): Promise<ChangedBlock | null> {
  const most = group.length > 1 ? sortedKeys(group).at(-1) : undefined;
  const also = most === undefined ? [] : [...which(list), ...most];
  const [row] = await database.returning(`${CHANGE} ${most === undefined ? "" : `${ALSO} `}${CHANGED}`, [
    ...changeValues(list, group, change),
    ...also,
  ]);
  return row === undefined
    ? null
    : { first: [Number(row.first_at), Number(row.first_id)], rowCount: Number(row.rowCount) };
}

function sortedKeys(group: readonly Entry[]): Key[] {
  return group.map(({ key }) => key).toSorted(compareKeys);
}

/** The parameters of `CHANGE`. */
function changeValues(list: CountedList, group: readonly Entry[], change: Sums): SqlValue[] {
  const [least = BEGINNING] = sortedKeys(group);
  const { rowCount, promoters, detractors, unscored, leastOther, mostOther } = change;
  const bounds = [leastOther, leastOther, mostOther, mostOther];
  return [rowCount, promoters, detractors, unscored, ...bounds, ...which(list), ...which(list), ...least];
}

const NO_BOUNDS = { first: null, end: null };
const BLOCK_SUMS = `coalesce(sum(row_count), 0) AS "rowCount", coalesce(sum(promoters), 0) AS promoters, coalesce(sum(detractors), 0) AS detractors,
  coalesce(sum(unscored), 0) AS unscored`;

/** By blocks in memory: to add them up in the engine would be most of what metrics of a million rows cost. */
async function countKnown(
  database: Database,
  list: CountedList,
  { since, until }: TimeRange,
  blocks: readonly Block[],
): Promise<ListCounts> {
  const countUpTo = async (at: number): Promise<ListCounts> => {
    const block = blocks[lastBlock(blocks, ({ first }) => first[0] < at)];
    if (block === undefined) return NOTHING;
    const { first, end, before } = block;
    return addUp(before, await countRows(database, list, { first, end }, { since: null, until: at - 1 }), null);
  };
  const last = blocks.at(-1);
  const isEmpty = since !== null && until !== null && since > until;
  if (last === undefined || isEmpty) return NOTHING;
  const all = until === null ? addUp(last.before, last, null) : await countUpTo(until + 1);
  return since === null ? all : addUp(all, null, await countUpTo(since));
}

async function countRange(database: Database, list: CountedList, range: TimeRange): Promise<ListCounts> {
  const start = range.since === null ? BEGINNING : await firstBegin(database, list, ">=", range.since);
  const isInOneBlock = start === null || (range.until !== null && start[0] > range.until);
  if (isInOneBlock) return countRows(database, list, NO_BOUNDS, range);
  const blocks: Where = { clauses: [BLOCK], values: which(list) };
  addRange(blocks, "first_at", range);
  const whole = await database.first(`SELECT ${BLOCK_SUMS} FROM list_blocks WHERE ${whereSql(blocks)}`, blocks.values);
  const head =
    range.since === null
      ? null
      : await countRows(database, list, { first: null, end: start }, { since: range.since, until: null });
  const tail = range.until === null ? null : await countAfter(database, list, range.until);
  return addUp(whole as unknown as ListCounts, head, tail);
}

/** Counts of the rows after a time that lie in a block which begins no later than it. */
async function countAfter(database: Database, list: CountedList, until: number): Promise<ListCounts> {
  const end = await firstBegin(database, list, ">", until);
  return countRows(database, list, { first: null, end }, { since: until + 1, until: null });
}

function addUp(whole: ListCounts, head: ListCounts | null, tail: ListCounts | null): ListCounts {
  const sum = (name: keyof ListCounts): number => whole[name] + (head?.[name] ?? 0) - (tail?.[name] ?? 0);
  const [promoters, detractors] = [sum("promoters"), sum("detractors")];
  return { promoters, detractors, rowCount: sum("rowCount"), unscored: sum("unscored") };
}

/** Where the first block begins that begins at a time or later. */
async function firstBegin(
  database: Database,
  list: CountedList,
  comparison: ">" | ">=",
  at: number,
): Promise<Key | null> {
  const row = await database.first(
    `SELECT first_at, first_id FROM list_blocks WHERE ${BLOCK} AND first_at ${comparison} ? ORDER BY first_at, first_id LIMIT 1`,
    [...which(list), at],
  );
  return toKey(row);
}

/** Where the block that holds a key ends; null when it is the last one. */
async function endOf(database: Database, list: CountedList, key: Key): Promise<Key | null> {
  const row = await database.first(
    `SELECT first_at, first_id FROM list_blocks WHERE ${BLOCK} AND (first_at, first_id) > (?, ?) ORDER BY first_at, first_id LIMIT 1`,
    [...which(list), ...key],
  );
  return toKey(row);
}

/** Cuts a block into some that are half as long as may be, but for the last one. */
async function cut(database: Database, list: CountedList, block: ChangedBlock, blockMax: number): Promise<void> {
  let { first } = block;
  const end = await endOf(database, list, first);
  const half = Math.floor(blockMax / 2);
  deleteBlock(database, list, first);
  for (let left = block.rowCount; left > blockMax; left -= half) {
    const middle = await keyAfter(database, list, { first, end }, half);
    insertBlock(database, list, first, await sumRows(database, list, first, middle));
    first = middle;
  }
  insertBlock(database, list, first, await sumRows(database, list, first, end));
}

/** Of the row behind so many rows of a block. */
async function keyAfter(
  database: Database,
  list: CountedList,
  { first, end }: Pick<Block, "first" | "end">,
  count: number,
): Promise<Key> {
  const where = betweenKeys(list, first, end, ALL_TIME);
  const [at, id] = list.key;
  const row = await database.first(
    `SELECT ${at} AS first_at, ${id} AS first_id FROM ${list.table} WHERE ${whereSql(where)} ORDER BY ${at}, ${id} LIMIT 1 OFFSET ?`,
    [...where.values, count],
  );
  const key = toKey(row);
  if (key === null) throw new Error(`the list ${list.name} has fewer rows than were counted`);
  return key;
}

function insertBlock(database: Database, list: CountedList, first: Key, sums: Sums): void {
  const { rowCount, promoters, detractors, unscored, leastOther, mostOther } = sums;
  database.send(
    `INSERT INTO list_blocks (project_id, list, first_at, first_id, row_count, promoters, detractors, unscored, least_other, most_other)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...which(list), ...first, rowCount, promoters, detractors, unscored, leastOther, mostOther],
  );
}

/** The first block stays: every key must lie in one. */
async function deleteEmpty(database: Database, list: CountedList, key: Key): Promise<void> {
  const first = toKey(await database.first(BLOCK_OF_KEY, [...which(list), ...key]));
  if (first !== null && first[0] !== BEGINNING[0]) deleteBlock(database, list, first);
}

function deleteBlock(database: Database, list: CountedList, first: Key): void {
  database.send(`DELETE FROM list_blocks WHERE ${BLOCK} AND first_at = ? AND first_id = ?`, [...which(list), ...first]);
}

function forgetAll(newest: { readonly forget: () => void }, known: { readonly forgetAll: () => void }): void {
  newest.forget();
  known.forgetAll();
}

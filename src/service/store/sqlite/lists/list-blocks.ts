/**
 * How many rows lie where in a list, kept in the transaction that changes the list. A list is cut into blocks of
 * neighbouring rows; a block that grows too long is cut in two. To count a range is to add whole blocks and to count
 * rows only at its two ends, so neither the length of the list matters nor how many rows share one second.
 */
import type { TimeRange } from "../../../domain/inputs.ts";
import type { ScoreCounts } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";
import type { SqlRow, SqlValue } from "../engine/engine.ts";
import { addCondition, addRange, copyWhere, whereSql, type Where } from "../sql/where.ts";
import type { CountedList } from "./counted-lists.ts";

/** Sort key of a row: a time and an id. */
export type Key = readonly [at: number, id: number];

/** What a list has to know of one of its rows. */
export interface Entry {
  readonly key: Key;
  /** The list's other time; 0 where it has none. */
  readonly other: number;
  readonly score: number | null;
}

export interface Block {
  /** No row of the block comes before it. */
  readonly first: Key;
  /** Where the next block begins; null for the last one. */
  readonly end: Key | null;
  readonly rowCount: number;
  /** The other time of every row lies between these; they may be wider than need be. */
  readonly leastOther: number;
  readonly mostOther: number;
}

export interface ListBlocks {
  /** The most rows in a block. */
  readonly max: number;
  /** Counts a row that was just stored. */
  add(list: CountedList, entry: Entry): void;
  /** Counts a row out that was just deleted, or stored elsewhere in the list. */
  remove(list: CountedList, entry: Entry): void;
  /** Forgets a list that is no more. */
  drop(list: CountedList): void;
  /** All blocks in order; none for a list that never had a row. */
  read(list: CountedList): readonly Block[];
  /** How many rows lie in a range of the list's own time. */
  count(list: CountedList, range: TimeRange): number;
  /** The same by category of score. */
  countScores(list: CountedList, range: TimeRange): ScoreCounts;
}

/** More would make the ends of a range slow to count, fewer the sum over all blocks: 4,096 is near the best at a million rows. */
const BLOCK_MAX = 4096;
/** Where the first block of each list begins, so that every key lies in a block. */
const BEGINNING: Key = [Number.MIN_SAFE_INTEGER, 0];

const ALL_TIME: TimeRange = { since: null, until: null };

const BLOCK = "project_id = ? AND list = ?";
const BLOCK_OF_KEY = `SELECT first_at, first_id FROM list_blocks WHERE ${BLOCK} AND (first_at, first_id) <= (?, ?)
  ORDER BY first_at DESC, first_id DESC LIMIT 1`;
const ADD = `UPDATE list_blocks SET row_count = row_count + 1, promoters = promoters + ?, detractors = detractors + ?,
    least_other = CASE WHEN least_other > ? THEN ? ELSE least_other END,
    most_other = CASE WHEN most_other < ? THEN ? ELSE most_other END
  WHERE ${BLOCK} AND (first_at, first_id) = (${BLOCK_OF_KEY}) RETURNING row_count AS "rowCount"`;
const REMOVE = `UPDATE list_blocks SET row_count = row_count - 1, promoters = promoters - ?, detractors = detractors - ?
  WHERE ${BLOCK} AND (first_at, first_id) = (${BLOCK_OF_KEY}) RETURNING row_count AS "rowCount"`;

export function createListBlocks(database: Database, blockMax = BLOCK_MAX): ListBlocks {
  const count = (list: CountedList, range: TimeRange): Sums => countRange(database, list, range);
  return {
    max: blockMax,
    add: (list, entry) => {
      const { key, other } = entry;
      const [row] = database.returning(ADD, [
        ...marks(entry),
        other,
        other,
        other,
        other,
        ...which(list),
        ...which(list),
        ...key,
      ]);
      if (row === undefined) insertBlock(database, list, BEGINNING, sumRows(database, list, null, null));
      else if (Number(row.rowCount) > blockMax) cut(database, list, key, Math.floor(blockMax / 2));
    },
    remove: (list, entry) => {
      const [row] = database.returning(REMOVE, [...marks(entry), ...which(list), ...which(list), ...entry.key]);
      if (row?.rowCount === 0) deleteEmpty(database, list, entry.key);
    },
    drop: (list) => void database.run(`DELETE FROM list_blocks WHERE ${BLOCK}`, which(list)),
    read: (list) => readBlocks(database, list),
    count: (list, range) => count(list, range).rowCount,
    countScores: (list, range) => {
      const { rowCount, promoters, detractors } = count(list, range);
      return { promoters, detractors, passives: rowCount - promoters - detractors };
    },
  };
}

function which({ project, name }: CountedList): SqlValue[] {
  return [project, name];
}

/** Whether a row is a promoter and whether a detractor, as 0 or 1. */
function marks({ score }: Entry): number[] {
  return [Number(score !== null && score >= 9), Number(score !== null && score < 7)];
}

interface Sums {
  readonly rowCount: number;
  readonly promoters: number;
  readonly detractors: number;
  readonly leastOther: number;
  readonly mostOther: number;
}

const BLOCK_SUMS = `coalesce(sum(row_count), 0) AS "rowCount", coalesce(sum(promoters), 0) AS promoters, coalesce(sum(detractors), 0) AS detractors`;

/** Sums over rows from one key up to, but not including, another; null for no bound. */
function sumRows(
  database: Database,
  list: CountedList,
  from: Key | null,
  to: Key | null,
  range: TimeRange = ALL_TIME,
): Sums {
  const where = betweenKeys(list, from, to, range);
  const [promoters, detractors] = list.isScored
    ? ["count(*) FILTER (WHERE score >= 9)", "count(*) FILTER (WHERE score < 7)"]
    : ["0", "0"];
  const other = list.other ?? "0";
  const row = database.first(
    `SELECT count(*) AS "rowCount", ${promoters} AS promoters, ${detractors} AS detractors,
       coalesce(min(${other}), 0) AS "leastOther", coalesce(max(${other}), 0) AS "mostOther"
     FROM ${list.table} WHERE ${whereSql(where)}`,
    where.values,
  );
  return row as unknown as Sums;
}

/** The list's rows in a range of its time, from one key up to, but not including, another: of two bounds the closer one. */
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

function countRange(database: Database, list: CountedList, range: TimeRange): Sums {
  const start = range.since === null ? BEGINNING : firstBegin(database, list, ">=", range.since);
  const isInOneBlock = start === null || (range.until !== null && start[0] > range.until);
  if (isInOneBlock) return sumRows(database, list, null, null, range);
  const blocks: Where = { clauses: [BLOCK], values: which(list) };
  addRange(blocks, "first_at", range);
  const whole = database.first(`SELECT ${BLOCK_SUMS} FROM list_blocks WHERE ${whereSql(blocks)}`, blocks.values);
  const head = range.since === null ? null : sumRows(database, list, null, start, { since: range.since, until: null });
  const tail = range.until === null ? null : sumAfter(database, list, range.until);
  return addUp(whole as unknown as Sums, head, tail);
}

/** Sums over the rows after a time that lie in a block which begins no later than it. */
function sumAfter(database: Database, list: CountedList, until: number): Sums {
  const end = firstBegin(database, list, ">", until);
  return sumRows(database, list, null, end, { since: until + 1, until: null });
}

function addUp(whole: Sums, head: Sums | null, tail: Sums | null): Sums {
  const sum = (name: "rowCount" | "promoters" | "detractors"): number =>
    whole[name] + (head?.[name] ?? 0) - (tail?.[name] ?? 0);
  return { ...whole, rowCount: sum("rowCount"), promoters: sum("promoters"), detractors: sum("detractors") };
}

/** Where the first block begins that begins at a time or later. */
function firstBegin(database: Database, list: CountedList, comparison: ">" | ">=", at: number): Key | null {
  const row = database.first(
    `SELECT first_at, first_id FROM list_blocks WHERE ${BLOCK} AND first_at ${comparison} ? ORDER BY first_at, first_id LIMIT 1`,
    [...which(list), at],
  );
  return toKey(row);
}

function toKey(row: SqlRow | null): Key | null {
  return row === null ? null : [Number(row.first_at), Number(row.first_id)];
}

function readBlocks(database: Database, list: CountedList): Block[] {
  const rows = database.all(
    `SELECT first_at, first_id, row_count AS "rowCount", least_other AS "leastOther", most_other AS "mostOther"
     FROM list_blocks WHERE ${BLOCK} ORDER BY first_at, first_id`,
    which(list),
  );
  return rows.map((row, index) => ({
    ...(row as unknown as Omit<Block, "first" | "end">),
    first: [Number(row.first_at), Number(row.first_id)],
    end: toKey(rows[index + 1] ?? null),
  }));
}

/** Cuts the block that holds a key after its first `keep` rows. */
function cut(database: Database, list: CountedList, key: Key, keep: number): void {
  const first = toKey(database.first(BLOCK_OF_KEY, [...which(list), ...key])) ?? BEGINNING;
  const end = toKey(
    database.first(
      `SELECT first_at, first_id FROM list_blocks WHERE ${BLOCK} AND (first_at, first_id) > (?, ?) ORDER BY first_at, first_id LIMIT 1`,
      [...which(list), ...first],
    ),
  );
  const where = betweenKeys(list, first, end, ALL_TIME);
  const [at, id] = list.key;
  const middle = toKey(
    database.first(
      `SELECT ${at} AS first_at, ${id} AS first_id FROM ${list.table} WHERE ${whereSql(where)} ORDER BY ${at}, ${id} LIMIT 1 OFFSET ?`,
      [...where.values, keep],
    ),
  );
  if (middle === null) throw new Error(`the list ${list.name} has fewer rows than were counted`);
  deleteBlock(database, list, first);
  insertBlock(database, list, first, sumRows(database, list, first, middle));
  insertBlock(database, list, middle, sumRows(database, list, middle, end));
}

function insertBlock(database: Database, list: CountedList, first: Key, sums: Sums): void {
  const { rowCount, promoters, detractors, leastOther, mostOther } = sums;
  database.run(
    `INSERT INTO list_blocks (project_id, list, first_at, first_id, row_count, promoters, detractors, least_other, most_other)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [...which(list), ...first, rowCount, promoters, detractors, leastOther, mostOther],
  );
}

/** The first block stays: every key must lie in one. */
function deleteEmpty(database: Database, list: CountedList, key: Key): void {
  const first = toKey(database.first(BLOCK_OF_KEY, [...which(list), ...key]));
  if (first !== null && first[0] !== BEGINNING[0]) deleteBlock(database, list, first);
}

function deleteBlock(database: Database, list: CountedList, first: Key): void {
  database.run(`DELETE FROM list_blocks WHERE ${BLOCK} AND first_at = ? AND first_id = ?`, [...which(list), ...first]);
}

/**
 * The number of rows of a list in each UTC day, kept in the transaction that changes the list. To count a range is to
 * add up its whole days and to count rows of the two days that it cuts: its own, or the others where those are fewer.
 */
import { scoreCategory } from "../../../../contract/limits.ts";
import { DAY_SECONDS, utcDay } from "../../../../runtime/zone.ts";
import type { TimeRange } from "../../../domain/inputs.ts";
import type { ScoreTally } from "../../../domain/ports.ts";
import type { Database } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";
import { addRange, copyWhere, type Where, whereSql } from "./fragments.ts";
import { scoreSums } from "./score-sums.ts";

/** All that a tally knows of a row. */
export interface CountedRow {
  /** The time that the list is ordered by. */
  readonly at: number;
  /** Null where the list has no scores, and for an answer to another question than that of the NPS. */
  readonly score: number | null;
}

/** Unix seconds, inclusive. */
export interface Bounds {
  readonly since: number;
  readonly until: number;
}

/** A range in the order of time: whole days, counted from 1970, with a part of a day before and behind them. */
export type RangePart =
  | { readonly kind: "days"; readonly days: TimeRange }
  | { readonly kind: "cut"; readonly range: Bounds };

/**
 * The day that holds a row, and how many of its rows come before that one; no day: the rows that are left to pass over.
 */
interface FoundDay {
  readonly day: number | null;
  readonly skip: number;
}

export interface ListTallies {
  /** Counts rows in that were just stored. */
  add(list: CountedList, ...rows: readonly CountedRow[]): void;
  /** Counts rows out that were just deleted, or are about to be stored elsewhere in the list. */
  remove(list: CountedList, ...rows: readonly CountedRow[]): void;
  /** Forgets a list that is no more. */
  drop(list: CountedList): void;
  /** The number of rows in a range of the list's time. */
  count(list: CountedList, range: TimeRange): Promise<number>;
  /** The same by category of score. */
  countScores(list: CountedList, range: TimeRange): Promise<ScoreTally>;
  /**
   * The day of these in which the row comes that follows the first `skip` ones, from the newest day on where
   * `descending`.
   */
  findDay(list: CountedList, days: TimeRange, skip: number, descending: boolean): Promise<FoundDay>;
}

interface Tally extends ScoreTally {
  readonly rowCount: number;
}

export function createListTallies(database: Database): ListTallies {
  const change = (list: CountedList, rows: readonly CountedRow[], sign: 1 | -1): void => {
    for (const [day, { rowCount, promoters, passives, detractors }] of tallyByDay(rows))
      database.send(CHANGE, [
        list.project,
        list.name,
        day,
        sign * rowCount,
        sign * promoters,
        sign * passives,
        sign * detractors,
      ]);
  };
  return {
    add: (list, ...rows) => change(list, rows, 1),
    remove: (list, ...rows) => change(list, rows, -1),
    drop: ({ project, name }) =>
      database.send("DELETE FROM list_tallies WHERE project_id = ? AND list = ?", [project, name]),
    // Scores are in one index alone.
    count: async (list, range) => (await countRange(database, { ...list, isScored: false }, range)).rowCount,
    countScores: async (list, range) => {
      const { promoters, passives, detractors } = await countRange(database, list, range);
      return { promoters, passives, detractors };
    },
    findDay: (list, days, skip, descending) => findDay(database, ofDays(list, days), skip, descending),
  };
}

const CHANGE = `INSERT INTO list_tallies (project_id, list, day, row_count, promoters, passives, detractors)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, list, day) DO UPDATE SET
    row_count = list_tallies.row_count + excluded.row_count,
    promoters = list_tallies.promoters + excluded.promoters,
    passives = list_tallies.passives + excluded.passives,
    detractors = list_tallies.detractors + excluded.detractors`;

const NOTHING: Tally = { rowCount: 0, promoters: 0, passives: 0, detractors: 0 };

function tallyByDay(rows: readonly CountedRow[]): ReadonlyMap<number, Tally> {
  const days = new Map<number, Tally>();
  for (const { at, score } of rows) {
    const category = score === null ? {} : { [`${scoreCategory(score)}s`]: 1 };
    days.set(utcDay(at), addUp(days.get(utcDay(at)) ?? NOTHING, { ...NOTHING, rowCount: 1, ...category }));
  }
  return days;
}

async function countRange(database: Database, list: CountedList, range: TimeRange): Promise<Tally> {
  let tally = NOTHING;
  for (const part of splitRange(range)) {
    const isWhole = part.kind === "days";
    tally = addUp(tally, await (isWhole ? sumDays(database, list, part.days) : countCut(database, list, part.range)));
  }
  return tally;
}

/** A part of a day, by its rows or by those of the rest: of a day that is spread evenly, the fewer ones. */
async function countCut(database: Database, list: CountedList, { since, until }: Bounds): Promise<Tally> {
  if (until - since < DAY_SECONDS / 2) return countRows(database, list, { since, until });
  const day = utcDay(since);
  const { since: first, until: last } = wholeDay(day);
  const rest = [
    { since: first, until: since - 1 },
    { since: until + 1, until: last },
  ];
  let tally = await sumDays(database, list, { since: day, until: day });
  for (const part of rest)
    if (part.since <= part.until) tally = addUp(tally, await countRows(database, list, part), -1);
  return tally;
}

export function wholeDay(day: number): Bounds {
  return { since: day * DAY_SECONDS, until: (day + 1) * DAY_SECONDS - 1 };
}

/** A range that ends before it begins has no parts. */
export function splitRange({ since, until }: TimeRange): readonly RangePart[] {
  if (since !== null && until !== null && since > until) return [];
  const first = since === null ? null : Math.ceil(since / DAY_SECONDS);
  const last = until === null ? null : utcDay(until + 1) - 1;
  const parts: RangePart[] = [];
  if (since !== null && first !== null && since < first * DAY_SECONDS)
    parts.push({ kind: "cut", range: { since, until: Math.min(until ?? Infinity, first * DAY_SECONDS - 1) } });
  if (first === null || last === null || first <= last)
    parts.push({ kind: "days", days: { since: first, until: last } });
  const isOneCut = first !== null && last !== null && first > last + 1;
  if (until !== null && last !== null && until >= (last + 1) * DAY_SECONDS && !isOneCut)
    parts.push({ kind: "cut", range: { since: (last + 1) * DAY_SECONDS, until } });
  return parts;
}

/** Ten years are sixty of these, which are passed over first. */
const SPAN_DAYS = 64;

async function findDay(database: Database, where: Where, skip: number, descending: boolean): Promise<FoundDay> {
  const span = await passOver(database, where, SPAN_DAYS, skip, descending);
  if (span.number === null) return { day: null, skip: span.skip };
  const within = copyWhere(where);
  addRange(within, "day", { since: span.number * SPAN_DAYS, until: (span.number + 1) * SPAN_DAYS - 1 });
  const { number, skip: left } = await passOver(database, within, 1, span.skip, descending);
  return { day: number, skip: left };
}

/** Passes over spans of so many days as long as their rows are all skipped; the number of the one that is not. */
async function passOver(
  database: Database,
  where: Where,
  spanDays: number,
  skip: number,
  descending: boolean,
): Promise<{ readonly number: number | null; readonly skip: number }> {
  const sql = `SELECT day / ${spanDays} AS number, sum(row_count) AS "rowCount" FROM list_tallies
    WHERE ${whereSql(where)} GROUP BY 1 ORDER BY 1 ${descending ? "DESC" : "ASC"}`;
  let left = skip;
  for (const { number, rowCount } of await database.all(sql, where.values)) {
    if (left < Number(rowCount)) return { number: Number(number), skip: left };
    left -= Number(rowCount);
  }
  return { number: null, skip: left };
}

async function sumDays(database: Database, list: CountedList, days: TimeRange): Promise<Tally> {
  const where = ofDays(list, days);
  const sql = `SELECT coalesce(sum(row_count), 0) AS "rowCount", coalesce(sum(promoters), 0) AS promoters,
    coalesce(sum(passives), 0) AS passives, coalesce(sum(detractors), 0) AS detractors
    FROM list_tallies WHERE ${whereSql(where)}`;
  return (await database.first(sql, where.values)) as unknown as Tally;
}

function ofDays({ project, name }: CountedList, days: TimeRange): Where {
  const where: Where = { clauses: ["project_id = ?", "list = ?"], values: [project, name] };
  addRange(where, "day", days);
  return where;
}

async function countRows(database: Database, list: CountedList, range: TimeRange): Promise<Tally> {
  const where = copyWhere(list.where);
  addRange(where, list.key[0], range);
  const { promoters, passives, detractors } = scoreSums(list.isScored);
  const sums = `${promoters} AS promoters, ${passives} AS passives, ${detractors} AS detractors`;
  const sql = `SELECT count(*) AS "rowCount", ${sums} FROM ${list.table} WHERE ${whereSql(where)}`;
  return (await database.first(sql, where.values)) as unknown as Tally;
}

function addUp(one: Tally, other: Tally, sign: 1 | -1 = 1): Tally {
  return {
    rowCount: one.rowCount + sign * other.rowCount,
    promoters: one.promoters + sign * other.promoters,
    passives: one.passives + sign * other.passives,
    detractors: one.detractors + sign * other.detractors,
  };
}

/**
 * The number of rows of a list in each UTC day, kept in the transaction that changes the list. To count a range is to
 * add up its whole days and to count rows of the two days that it cuts.
 */
import { scoreCategory } from "../../../../contract/limits.ts";
import type { TimeRange } from "../../../domain/inputs.ts";
import type { ScoreTally } from "../../../domain/ports.ts";
import type { Database } from "../database.ts";
import type { CountedList } from "./counted-lists.ts";
import { addRange, copyWhere, type Where, whereSql } from "./fragments.ts";
import { DAY_SECONDS, scoreSums } from "./score-sums.ts";

/** All that a tally knows of a row. */
export interface CountedRow {
  /** The time that the list is ordered by. */
  readonly at: number;
  /** Null where the list has no scores, and for an answer to another question than that of the NPS. */
  readonly score: number | null;
}

export interface DayCount {
  /** Days since 1970. */
  readonly day: number;
  readonly rowCount: number;
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
  /** The days that a range touches, oldest first, each with all its rows. */
  days(list: CountedList, range: TimeRange): Promise<readonly DayCount[]>;
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
    days: async (list, { since, until }) => {
      const days = { since: since === null ? null : dayOf(since), until: until === null ? null : dayOf(until) };
      const where = ofDays(list, days);
      const sql = `SELECT day, row_count AS "rowCount" FROM list_tallies WHERE ${whereSql(where)} ORDER BY day`;
      return (await database.all(sql, where.values)) as unknown as DayCount[];
    },
  };
}

const CHANGE = `INSERT INTO list_tallies (project_id, list, day, row_count, promoters, passives, detractors)
  VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (project_id, list, day) DO UPDATE SET
    row_count = list_tallies.row_count + excluded.row_count,
    promoters = list_tallies.promoters + excluded.promoters,
    passives = list_tallies.passives + excluded.passives,
    detractors = list_tallies.detractors + excluded.detractors`;

const NOTHING: Tally = { rowCount: 0, promoters: 0, passives: 0, detractors: 0 };

export function dayOf(at: number): number {
  return Math.floor(at / DAY_SECONDS);
}

function tallyByDay(rows: readonly CountedRow[]): ReadonlyMap<number, Tally> {
  const days = new Map<number, Tally>();
  for (const { at, score } of rows) {
    const category = score === null ? {} : { [`${scoreCategory(score)}s`]: 1 };
    days.set(dayOf(at), addUp(days.get(dayOf(at)) ?? NOTHING, { ...NOTHING, rowCount: 1, ...category }));
  }
  return days;
}

async function countRange(database: Database, list: CountedList, range: TimeRange): Promise<Tally> {
  const { days, cut } = splitRange(range);
  let tally = days === null ? NOTHING : await sumDays(database, list, days);
  for (const part of cut) tally = addUp(tally, await countRows(database, list, part));
  return tally;
}

/** The whole days of a range, and the parts of days before and behind them; null for no whole day. */
function splitRange(range: TimeRange): { readonly days: TimeRange | null; readonly cut: readonly TimeRange[] } {
  const { since, until } = range;
  const first = since === null ? null : Math.ceil(since / DAY_SECONDS);
  const last = until === null ? null : dayOf(until + 1) - 1;
  if (first !== null && last !== null && first > last) return { days: null, cut: [range] };
  const cut: TimeRange[] = [];
  if (since !== null && first !== null && since < first * DAY_SECONDS)
    cut.push({ since, until: first * DAY_SECONDS - 1 });
  if (until !== null && last !== null && until >= (last + 1) * DAY_SECONDS)
    cut.push({ since: (last + 1) * DAY_SECONDS, until });
  return { days: { since: first, until: last }, cut };
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

function addUp(one: Tally, other: Tally): Tally {
  return {
    rowCount: one.rowCount + other.rowCount,
    promoters: one.promoters + other.promoters,
    passives: one.passives + other.passives,
    detractors: one.detractors + other.detractors,
  };
}

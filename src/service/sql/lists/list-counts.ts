/** Sums whole days, and counts the rows of the two partial days at the ends of a time range. */
import { DAY_SECONDS, utcDay } from "../../../runtime/zone.ts";
import type { TimeRange } from "./fragments.ts";
import type { ScoreTally } from "./score-sums.ts";
import type { Database, SqlRow, SqlValue } from "../database.ts";
import { addCounts, BLOCK_DAYS, type Counts, WHOLE } from "./count-changes.ts";
import { columnsInName, type CountedList, type OrderedList } from "./counted-lists.ts";
import { addRange, copyWhere, whereSql } from "./fragments.ts";
import { scoreSums } from "./score-sums.ts";

/** Saves the write's count changes so far, so that the queries below see them. */
function storeChanges(database: Database): void {
  for (const { sql, values } of database.counts.take()) database.send(sql, values);
}

/** Call it after deleting all of the list's rows, when every count is 0. */
export function forgetCounts(database: Database, { project, name }: OrderedList): void {
  storeChanges(database);
  database.send("DELETE FROM row_counts WHERE project_id = ? AND span IN (1, ?) AND list = ?", [
    project,
    BLOCK_DAYS,
    name,
  ]);
}

export async function countRows(database: Database, list: OrderedList, range: TimeRange): Promise<number> {
  // Leaves out the scores, because only one index contains them.
  return (await countRange(database, { ...list, isScored: false }, range)).n;
}

export async function countScores(database: Database, list: OrderedList, range: TimeRange): Promise<ScoreTally> {
  const { promoters, passives, detractors } = await countRange(database, list, range);
  return { promoters, passives, detractors };
}

async function countRange(database: Database, list: OrderedList, range: TimeRange): Promise<Counts> {
  const { days, cuts } = splitRange(range);
  let counts = await sumDays(database, list, days);
  for (const { rows, sign } of cuts) counts = addCounts(counts, await countByRow(database, list, rows), sign);
  return counts;
}

interface SplitRange {
  /** Whole days since 1970, inclusive; none if `last` comes before `first`. */
  readonly days: { readonly first: number; readonly last: number };
  readonly cuts: readonly { readonly rows: TimeRange; readonly sign: 1 | -1 }[];
}

const ALWAYS = 1_000_000_000;

/** If most of a partial day is in the range, counts the whole day and subtracts the rest. */
function splitRange({ since, until }: TimeRange): SplitRange {
  let [first, last] = [-ALWAYS, ALWAYS];
  const cuts: SplitRange["cuts"][number][] = [];
  if (since !== null && until !== null && since > until) return { days: { first: 0, last: -1 }, cuts };
  if (since !== null) {
    first = utcDay(since);
    const begin = first * DAY_SECONDS;
    if (since - begin > DAY_SECONDS / 2) {
      first += 1;
      cuts.push({ rows: { since, until: first * DAY_SECONDS - 1 }, sign: 1 });
    } else if (since > begin) cuts.push({ rows: { since: begin, until: since - 1 }, sign: -1 });
  }
  if (until !== null) {
    last = utcDay(until);
    const end = (last + 1) * DAY_SECONDS - 1;
    if (end - until > DAY_SECONDS / 2) {
      last -= 1;
      cuts.push({ rows: { since: (last + 1) * DAY_SECONDS, until }, sign: 1 });
    } else if (until < end) cuts.push({ rows: { since: until + 1, until: end }, sign: -1 });
  }
  return { days: { first, last }, cuts };
}

const PIECE = `SELECT n, promoters, passives, detractors FROM row_counts
  WHERE project_id = ? AND span = ? AND list = ? AND number >= ? AND number <= ?`;
const SUM = `SELECT coalesce(sum(n), 0) AS n, coalesce(sum(promoters), 0) AS promoters,
    coalesce(sum(passives), 0) AS passives, coalesce(sum(detractors), 0) AS detractors
  FROM (${PIECE} UNION ALL ${PIECE} UNION ALL ${PIECE}) AS pieces`;

async function sumDays(database: Database, { project, name }: OrderedList, days: SplitRange["days"]): Promise<Counts> {
  storeChanges(database);
  const { first, last } = days;
  const blocks = { first: Math.ceil(first / BLOCK_DAYS), last: Math.floor((last + 1) / BLOCK_DAYS) - 1 };
  const begin = Math.min(blocks.first * BLOCK_DAYS - 1, last);
  const end = Math.max((blocks.last + 1) * BLOCK_DAYS, begin + 1);
  const pieces = [
    [1, first, begin],
    [BLOCK_DAYS, blocks.first, blocks.last],
    [1, end, last],
  ];
  const values = pieces.flatMap(([span = 0, from = 0, to = 0]): SqlValue[] => [project, span, name, from, to]);
  return (await database.first(SUM, values)) as unknown as Counts;
}

async function countByRow(database: Database, list: OrderedList, range: TimeRange): Promise<Counts> {
  const where = copyWhere(list.where);
  addRange(where, list.key[0], range);
  const { promoters, passives, detractors } = scoreSums(list.isScored);
  const sums = `${promoters} AS promoters, ${passives} AS passives, ${detractors} AS detractors`;
  const sql = `SELECT count(*) AS n, ${sums} FROM ${list.table} WHERE ${whereSql(where)}`;
  return (await database.first(sql, where.values)) as unknown as Counts;
}

export interface CountedDay {
  readonly day: number;
  readonly rowCount: number;
}

export async function listDays(
  database: Database,
  { project, name }: OrderedList,
  { first, last }: SplitRange["days"],
): Promise<readonly CountedDay[]> {
  storeChanges(database);
  const sql = `SELECT number AS day, n AS "rowCount" FROM row_counts
    WHERE project_id = ? AND span = 1 AND list = ? AND number >= ? AND number <= ? AND n > 0 ORDER BY number`;
  return (await database.all(sql, [project, name, first, last])) as unknown as readonly CountedDay[];
}

/** Finds the block of days that contains the row with a given number, and how many rows come before it. */
function blockSql(direction: "ASC" | "DESC"): string {
  return `SELECT d.number AS day, d.n, b.upto - b.n AS before
    FROM (SELECT number, n, upto FROM (SELECT number, n, sum(n) OVER (ORDER BY number ${direction}) AS upto
        FROM row_counts WHERE project_id = ? AND span = ${BLOCK_DAYS} AND list = ?) AS summed
      WHERE n > 0 AND upto > ? ORDER BY upto LIMIT 1) AS b
    JOIN row_counts d ON d.number >= b.number * ${BLOCK_DAYS} AND d.number < (b.number + 1) * ${BLOCK_DAYS}
    WHERE d.project_id = ? AND d.span = 1 AND d.list = ?`;
}
const BLOCK = { ascending: blockSql("ASC"), descending: blockSql("DESC") } as const;

/** Finds the day of the row that follows the first `skip` rows, and how many rows of it to skip; null past the end. */
export async function findDay(
  database: Database,
  { project, name }: OrderedList,
  skip: number,
  order: keyof typeof BLOCK,
): Promise<{ readonly day: number; readonly skip: number } | null> {
  storeChanges(database);
  const days = await database.all(BLOCK[order], [project, name, skip, project, name]);
  const sign = order === "ascending" ? 1 : -1;
  let left = skip - Number(days[0]?.before);
  for (const { day, n } of days.toSorted((one, other) => sign * (Number(one.day) - Number(other.day)))) {
    if (left < Number(n)) return { day: Number(day), skip: left };
    left -= Number(n);
  }
  return null;
}

export interface CountedValues {
  readonly project: number;
  readonly values: Readonly<Record<string, string>>;
  readonly n: number;
}

/** A null `project` counts the lists of all projects. */
export async function countByValue(
  database: Database,
  list: CountedList,
  project: number | null = null,
): Promise<readonly CountedValues[]> {
  storeChanges(database);
  const columns = columnsInName(list);
  const pattern = new RegExp(`^${list.name.replaceAll(/\{\w+\}/g, "(\\S+)")}$`);
  const rows = await database.all(
    `SELECT c.project_id, c.list, c.n FROM projects p JOIN row_counts c ON c.project_id = p.id AND c.span = ${WHOLE}
      WHERE c.n > 0${project === null ? "" : " AND p.id = ?"} ORDER BY c.project_id, c.list`,
    project === null ? [] : [project],
  );
  return rows.flatMap((row: SqlRow): CountedValues[] => {
    const [whole, ...values] = pattern.exec(String(row.list)) ?? [];
    if (whole === undefined) return [];
    const named = Object.fromEntries(columns.map((column, at) => [column, values[at] ?? ""]));
    return [{ project: Number(row.project_id), values: named, n: Number(row.n) }];
  });
}

/** A million rows don't fit into memory, so the counts are kept in a temporary database. */
import { scoreCategory } from "../../contract/limits.ts";
import { emailKey } from "../../contract/text/email.ts";
import { toCoreMetrics } from "../../contract/resources.ts";
import type { PastPerson } from "../domain/history/rows.ts";
import type { ScoreTally } from "../domain/ports.ts";
import { HISTORY_STREAMS, type HistoryStream, PART_STREAMS, type PartStream } from "./columns.ts";
import type { PastRow } from "./convert-rows.ts";
import { createWallClock, firstSecond } from "../../runtime/zone.ts";

/** A private SQLite database that is deleted when closed. */
export interface TemporaryDatabase {
  exec(sql: string): void;
  prepare(sql: string): TemporaryStatement;
}

interface TemporaryStatement {
  run(values: readonly Value[]): unknown;
  all(values: readonly Value[]): readonly Readonly<Record<string, unknown>>[];
}

type Value = string | number | null;

interface MonthCounts extends ScoreTally {
  readonly month: string | null;
}

export interface ScoreOfMonth extends MonthCounts {
  readonly responses: number;
  readonly nps: number | null;
}

interface StreamTally {
  readonly read: number;
  readonly newest: number;
  readonly merged: number;
  readonly refused: number;
}

export interface HistoryTally {
  /** Among equally new versions of a row, only the last one is the newest. */
  isNewest(ordinal: number): boolean;
  answeredAt(personId: number): number | null;
  createdAt(personId: number): number | null;
  readonly streams: ReadonlyMap<HistoryStream | PartStream, StreamTally>;
  readonly people: number;
  readonly months: readonly ScoreOfMonth[];
  readonly total: ScoreOfMonth;
}

type Kept = Exclude<PastRow, { readonly stream: PartStream }>;

/** The newest row for each key. `month` and `category` are set for responses that count towards the score. */
const TABLES = `
  PRAGMA journal_mode = OFF;
  PRAGMA synchronous = OFF;
  CREATE TABLE newest (stream TEXT, key, version INTEGER, ordinal INTEGER, month INTEGER, category TEXT,
    PRIMARY KEY (stream, key)) WITHOUT ROWID;
  CREATE TABLE people (id INTEGER PRIMARY KEY, answered_at INTEGER, created_at INTEGER);
  CREATE TABLE addresses (address TEXT PRIMARY KEY, has_id INTEGER) WITHOUT ROWID;
  BEGIN`;

const KEEP_NEWEST = `INSERT INTO newest VALUES (?, ?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET version = excluded.version, ordinal = excluded.ordinal, month = excluded.month,
    category = excluded.category
  WHERE excluded.version >= newest.version`;

const KEEP_PERSON = `INSERT INTO people VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET
    answered_at = max(coalesce(answered_at, excluded.answered_at), coalesce(excluded.answered_at, answered_at)),
    created_at = min(coalesce(created_at, excluded.created_at), coalesce(excluded.created_at, created_at))`;

const KEEP_ADDRESS = `INSERT INTO addresses VALUES (?, ?)
  ON CONFLICT DO UPDATE SET has_id = max(has_id, excluded.has_id)`;

const MONTHS = `SELECT month, sum(category = 'promoter') AS promoters, sum(category = 'passive') AS passives,
  sum(category = 'detractor') AS detractors FROM newest WHERE month IS NOT NULL GROUP BY month ORDER BY month`;

/** Counts addresses only if no row has them together with an id, because two rows can be about the same person. */
const PEOPLE = `SELECT (SELECT count(*) FROM people) + (SELECT count(*) FROM addresses WHERE has_id = 0) AS count`;

type Reads = Map<HistoryStream | PartStream, { read: number; refused: number }>;

export function countHistory(zone: string | null, database: TemporaryDatabase) {
  database.exec(TABLES);
  const monthOf = createMonths(zone);
  const keepNewest = database.prepare(KEEP_NEWEST);
  const keepPerson = database.prepare(KEEP_PERSON);
  const keepAddress = database.prepare(KEEP_ADDRESS);
  const reads: Reads = new Map();
  const count = (stream: HistoryStream | PartStream, isRefused: boolean): void => {
    const { read, refused } = reads.get(stream) ?? { read: 0, refused: 0 };
    reads.set(stream, { read: read + 1, refused: refused + (isRefused ? 1 : 0) });
  };
  const addPerson = (person: PastPerson, answeredAt: number | null): void => {
    const { id, createdAt } = person;
    if (id !== null) keepPerson.run([id, answeredAt, createdAt]);
    const address = rowAddress(person);
    if (address !== "") keepAddress.run([address, id === null ? 0 : 1]);
  };
  return {
    add(row: PastRow, ordinal: number) {
      count(row.stream, false);
      if (!("row" in row)) return;
      if (row.stream === "responses") addPerson(row.row.person, row.row.createdAt);
      else addPerson(row.row, null);
      keepNewest.run([row.stream, rowKey(row), row.version, ordinal, ...monthAndCategory(row, monthOf)]);
    },
    refuse: (stream: HistoryStream | PartStream) => count(stream, true),
    finish() {
      database.exec("COMMIT; CREATE INDEX newest_by_ordinal ON newest (ordinal)");
      return readTally(database, reads);
    },
  };
}

/** Rows without an id are identified by person, time and score. */
function rowKey(row: Kept): number | string {
  if (row.row.id !== null) return row.row.id;
  if (row.stream !== "responses") return rowAddress(row.row);
  const { person, createdAt, score, surveyType } = row.row;
  return `${person.id ?? rowAddress(person)} ${createdAt} ${score} ${surveyType}`;
}

function rowAddress({ email, phoneNumber }: PastPerson): string {
  return email === null ? (phoneNumber ?? "") : emailKey(email);
}

/** Both are null if the row isn't an NPS response. */
function monthAndCategory(row: Kept, monthOf: (at: number) => string): readonly [string | null, string | null] {
  if (row.stream !== "responses" || row.row.surveyType !== "nps") return [null, null];
  return [monthOf(row.row.createdAt), scoreCategory(row.row.score)];
}

function readTally(database: TemporaryDatabase, reads: Reads): HistoryTally {
  const findOrdinal = database.prepare("SELECT 1 FROM newest WHERE ordinal = ?");
  const findPerson = database.prepare("SELECT answered_at, created_at FROM people WHERE id = ?");
  const timeOf = (id: number, column: "answered_at" | "created_at"): number | null => {
    const at = findPerson.all([id])[0]?.[column] ?? null;
    return at === null ? null : Number(at);
  };
  const months = database.prepare(MONTHS).all([]) as unknown as readonly MonthCounts[];
  return {
    isNewest: (ordinal) => findOrdinal.all([ordinal]).length > 0,
    answeredAt: (id) => timeOf(id, "answered_at"),
    createdAt: (id) => timeOf(id, "created_at"),
    streams: readStreams(database, reads),
    people: Number(database.prepare(PEOPLE).all([])[0]?.["count"]),
    months: months.map(toScore),
    total: toScore(months.reduce(addCounts, { month: null, promoters: 0, passives: 0, detractors: 0 })),
  };
}

function readStreams(database: TemporaryDatabase, reads: Reads): HistoryTally["streams"] {
  const rows = database.prepare("SELECT stream, count(*) AS count FROM newest GROUP BY stream").all([]);
  const newest = new Map(rows.map(({ stream, count }) => [stream, Number(count)]));
  const streams = new Map<HistoryStream | PartStream, StreamTally>();
  for (const stream of [...HISTORY_STREAMS, ...PART_STREAMS]) {
    const found = reads.get(stream);
    if (found === undefined) continue;
    const kept = newest.get(stream) ?? 0;
    streams.set(stream, { ...found, newest: kept, merged: found.read - found.refused - kept });
  }
  return streams;
}

function addCounts(sum: MonthCounts, { promoters, passives, detractors }: MonthCounts): MonthCounts {
  return {
    month: null,
    promoters: sum.promoters + promoters,
    passives: sum.passives + passives,
    detractors: sum.detractors + detractors,
  };
}

function toScore(counts: MonthCounts): ScoreOfMonth {
  const { nps, response_count: responses } = toCoreMetrics(counts);
  return { ...counts, responses, nps: responses === 0 ? null : nps };
}

/** Caches where months begin, because looking up the zone for every row would take as long as reading the row. */
function createMonths(zone: string | null): (at: number) => string {
  const wallClock = createWallClock(zone);
  const starts = new Map<number, number>();
  const monthStart = (month: number): number => {
    const day = { year: Math.floor(month / 12), month: (month % 12) + 1, day: 1 };
    const start = starts.get(month) ?? firstSecond(day, wallClock);
    starts.set(month, start);
    return start;
  };
  return (at) => {
    const date = new Date(at * 1000);
    const inUtc = date.getUTCFullYear() * 12 + date.getUTCMonth();
    if (at < monthStart(inUtc)) return monthLabel(inUtc - 1);
    return monthLabel(at >= monthStart(inUtc + 1) ? inUtc + 1 : inUtc);
  };
}

function monthLabel(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
}

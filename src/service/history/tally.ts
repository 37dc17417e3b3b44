/** What an import brings, counted before anything is stored: rows, people, and the score of each month. */
import { emailKey } from "../../contract/text/email.ts";
import { scoreCategory } from "../../contract/limits.ts";
import { createWallClock, firstSecondOf } from "../../runtime/zone.ts";
import type { PastPerson, PastResponse } from "../domain/history/rows.ts";
import { toCoreMetrics } from "../domain/answers/metrics.ts";
import { HISTORY_STREAMS, type HistoryStream, PART_STREAMS, type PartStream } from "./columns.ts";
import type { PastRow } from "./convert-rows.ts";
import { NumberSet, TimesById } from "./many-numbers.ts";
import { idKey, type RowKey, type RunEntry, type RunStore, SortedRuns, textKey } from "./sorted-runs.ts";

export interface ScoreOfMonth {
  /** `2026-01`; null for all of them. */
  readonly month: string | null;
  readonly responses: number;
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
  /** As the metrics of the API round it; null without responses. */
  readonly nps: number | null;
}

/** A stream's rows: all that were read are in one of the other three. */
export interface StreamTally {
  readonly read: number;
  /** The newest of their key. */
  readonly newest: number;
  readonly merged: number;
  readonly refused: number;
}

export interface HistoryTally {
  /** Counts a row; `ordinal` is its number in the whole import. */
  add(row: PastRow, ordinal: number): void;
  refuse(stream: HistoryStream | PartStream): void;
  /** Ends counting: of the rows of one key the newest is kept, of those of one age the last. */
  finish(): void;
  /** Whether a row that was counted is the newest of its key. */
  isNewest(ordinal: number): boolean;
  /** When the person with this id last answered, in Unix seconds; null for never. */
  answeredAt(personId: number): number | null;
  /** When the person with this id was created; null where no row tells. */
  createdAt(personId: number): number | null;
  /** What follows is right once counting has ended. */
  readonly streams: ReadonlyMap<HistoryStream | PartStream, StreamTally>;
  /** Everybody whom a row names, once. */
  readonly people: number;
  readonly months: readonly ScoreOfMonth[];
  readonly total: ScoreOfMonth;
}

type Kept = Exclude<PastRow, { readonly stream: PartStream }>;

/** `zone` is where months begin; null is the system's. What would take much memory goes to `store`. */
export function createHistoryTally(zone: string | null, store: RunStore): HistoryTally {
  const months = createMonths(zone);
  const crowd = createCrowd(store);
  const counts = new Map<HistoryStream | PartStream, { read: number; merged: number; refused: number }>();
  const countOf = (stream: HistoryStream | PartStream): { read: number; merged: number; refused: number } => {
    const known = counts.get(stream) ?? { read: 0, merged: 0, refused: 0 };
    counts.set(stream, known);
    return known;
  };
  const older = new NumberSet();
  const keepNewest =
    (stream: HistoryStream) =>
    (one: RunEntry, other: RunEntry): RunEntry => {
      const isFirst = one.time > other.time || (one.time === other.time && one.ordinal > other.ordinal);
      const [kept, left] = isFirst ? [one, other] : [other, one];
      older.add(left.ordinal);
      months.add(left.place, -1);
      countOf(stream).merged += 1;
      return kept;
    };
  const rows = new Map(HISTORY_STREAMS.map((stream) => [stream, new SortedRuns(keepNewest(stream), store)]));
  return {
    add(row, ordinal) {
      const count = countOf(row.stream);
      count.read += 1;
      if (!isKept(row)) {
        // With its response.
        count.merged += 1;
        return;
      }
      const isResponse = row.stream === "responses";
      crowd.add(isResponse ? row.row.person : row.row, isResponse ? row.row.createdAt : 0);
      const place = isResponse ? months.placeOf(row.row) : 0;
      rows.get(row.stream)?.add(keyOf(row), row.version, ordinal, place);
      months.add(place, 1);
    },
    refuse(stream) {
      const count = countOf(stream);
      count.read += 1;
      count.refused += 1;
    },
    finish() {
      for (const each of rows.values()) each.finish();
      rows.clear();
      crowd.finish();
    },
    isNewest: (ordinal) => !older.has(ordinal),
    answeredAt: (personId) => crowd.answeredAt(personId),
    createdAt: (personId) => crowd.createdAt(personId),
    get streams() {
      return new Map(
        [...HISTORY_STREAMS, ...PART_STREAMS].flatMap((stream) => {
          const { read, merged, refused } = counts.get(stream) ?? { read: 0, merged: 0, refused: 0 };
          return read === 0 ? [] : [[stream, { read, newest: read - merged - refused, merged, refused }] as const];
        }),
      );
    },
    get people() {
      return crowd.count();
    },
    get months() {
      return months.list();
    },
    get total() {
      return months.total();
    },
  };
}

function isKept(row: PastRow): row is Kept {
  return "row" in row;
}

/** Rows without an id are told apart by person, time and score. */
function keyOf(row: Kept): RowKey {
  if (row.row.id !== null) return idKey(row.row.id);
  if (row.stream !== "responses") return textKey(addressOf(row.row));
  const { person, createdAt, score, surveyType } = row.row;
  return textKey(`${person.id ?? addressOf(person)} ${createdAt} ${score} ${surveyType}`);
}

function addressOf({ email, phoneNumber }: PastPerson): string {
  return email === null ? (phoneNumber ?? "") : emailKey(email);
}

/** People by id and by address, each once; when each id was created and last answered. */
function createCrowd(store: RunStore) {
  const ids = new SortedRuns((one, other) => (one.time > other.time ? one : other), store);
  // The place is 1 for an address of somebody without an id, who is counted by it.
  const addresses = new SortedRuns((one, other) => (one.place === 0 ? one : other), store);
  const answers = new TimesById(store);
  const births = new SortedRuns((one, other) => (one.time < other.time ? one : other), store);
  const created = new TimesById(store);
  let count = 0;
  return {
    /** `answeredAt` is 0 for a row that is not an answer. */
    add(person: PastPerson, answeredAt: number): void {
      const { id } = person;
      if (id !== null) ids.add(idKey(id), answeredAt, 0, 0);
      if (id !== null && person.createdAt !== null) births.add(idKey(id), person.createdAt, 0, 0);
      const address = addressOf(person);
      if (address !== "") addresses.add(textKey(address), 0, 0, id === null ? 1 : 0);
    },
    finish(): void {
      ids.finish(({ key, time }) => {
        count += 1;
        if (time > 0) answers.add(key, time);
      });
      answers.finish();
      births.finish(({ key, time }) => created.add(key, time));
      created.finish();
      addresses.finish(({ place }) => {
        count += place;
      });
    },
    count: () => count,
    answeredAt: (id: number): number | null => answers.find(id),
    createdAt: (id: number): number | null => created.find(id),
  };
}

const CATEGORIES = ["promoter", "passive", "detractor"] as const;

/** Before any time that is stored, in any zone: places are small numbers. */
const FIRST_MONTH = 1969 * 12;

/** Counts by month; a response's place is its month and category in one number, 0 for one that no score counts. */
function createMonths(zone: string | null) {
  const counts = new Map<number, number>();
  const starts = new Map<number, number>();
  const wallClock = createWallClock(zone);
  const startOf = (month: number): number => {
    const day = { year: Math.floor(month / 12), month: (month % 12) + 1, day: 1 };
    const start = starts.get(month) ?? firstSecondOf(day, wallClock);
    starts.set(month, start);
    return start;
  };
  const monthOf = (at: number): number => {
    const date = new Date(at * 1000);
    const month = date.getUTCFullYear() * 12 + date.getUTCMonth();
    if (at < startOf(month)) return month - 1;
    return at >= startOf(month + 1) ? month + 1 : month;
  };
  const read = (month: number): Record<(typeof CATEGORIES)[number], number> => {
    const [promoter = 0, passive = 0, detractor = 0] = CATEGORIES.map((_, at) => counts.get(placeIn(month, at)) ?? 0);
    return { promoter, passive, detractor };
  };
  const list = (): ScoreOfMonth[] =>
    [...new Set([...counts.keys()].map((place) => Math.floor(place / 4) + FIRST_MONTH))]
      .toSorted((one, other) => one - other)
      .map((month) => toScore(labelOfMonth(month), read(month)))
      .filter(({ responses }) => responses > 0);
  return {
    placeOf: ({ surveyType, score, createdAt }: PastResponse): number =>
      surveyType === "nps" ? placeIn(monthOf(createdAt), CATEGORIES.indexOf(scoreCategory(score))) : 0,
    add(place: number, by: 1 | -1): void {
      if (place > 0) counts.set(place, (counts.get(place) ?? 0) + by);
    },
    list,
    total: (): ScoreOfMonth => {
      const all = { promoter: 0, passive: 0, detractor: 0 };
      for (const { promoters, passives, detractors } of list()) {
        all.promoter += promoters;
        all.passive += passives;
        all.detractor += detractors;
      }
      return toScore(null, all);
    },
  };
}

function placeIn(month: number, category: number): number {
  return (month - FIRST_MONTH) * 4 + category + 1;
}

function labelOfMonth(month: number): string {
  return `${Math.floor(month / 12)}-${String((month % 12) + 1).padStart(2, "0")}`;
}

function toScore(
  month: string | null,
  { promoter, passive, detractor }: Record<(typeof CATEGORIES)[number], number>,
): ScoreOfMonth {
  const { nps, response_count: responses } = toCoreMetrics({
    promoters: promoter,
    passives: passive,
    detractors: detractor,
  });
  return {
    month,
    responses,
    promoters: promoter,
    passives: passive,
    detractors: detractor,
    nps: responses === 0 ? null : nps,
  };
}

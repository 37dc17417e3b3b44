import { createHash } from "node:crypto";
import { personIdOf } from "../../../client/write/look-up.ts";
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { SCORE_MAX } from "../../../contract/limits.ts";
import { capital } from "../../../contract/text/capital.ts";
import { createMaskedAnswers } from "../../../insight/answers/masked-answers.ts";
import { isComplete } from "../../../insight/coverage.ts";
import {
  CONFIDENCE_DEFAULT,
  countAnswers,
  FEW_ANSWERS,
  type Kind,
  kindOf,
  noScores,
} from "../../../insight/interval.ts";
import { createMasker } from "../../../insight/redact.ts";
import {
  type ChangeFacts,
  type PeriodScore,
  type ReportComment,
  reportComments,
  type ReportFacts,
  type ResponseRates,
  type SegmentFacts,
} from "../../../insight/report/facts.ts";
import { segmentRows, type SegmentTally } from "../../../insight/segments.ts";
import { VERSION } from "../../../runtime/version.ts";
import { type PeriodUnit, type RangeBefore, rangeBefore, unitFor } from "../../../runtime/calendar/periods.ts";
import { DAY_SECONDS } from "../../../runtime/zone.ts";
import type { Deps } from "../../kit/deps.ts";
import type { TimeFilter } from "../../kit/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { createTimeFormatter } from "../../render/time.ts";
import { coverageOf, describeRange, listPeriods, type Period } from "../shared/ranges.ts";
import { readResponses, scoreOf } from "../shared/read-responses.ts";
import { addPage, countPage, emptyCounts, namedTally, rethrowTooMany } from "../shared/segment-tally.ts";

export interface ReportRequest extends TimeFilter {
  readonly asOf: number;
  readonly by: PeriodUnit | null;
  readonly zone: string;
  readonly segments: readonly string[];
  readonly trend: string | null;
  readonly title: string;
  readonly sponsor: string | null;
  readonly personal: boolean;
  readonly links: boolean;
  /** Response rates when the report was made; they change with later answers. Null if the service sends none. */
  readonly rates: ResponseRates | null;
}

const COMMENTS_MAX = 200;
const PERIODS_MAX = 400;

export async function readFacts(
  deps: Deps,
  request: ReportRequest,
  command: string,
  onNote: (note: string) => unknown = () => undefined,
): Promise<ReportFacts> {
  const collected = createCollector(request);
  await readResponses(deps, {
    range: { since: collected.before?.since ?? request.since, until: lastSecond(request) },
    trend: request.trend,
    expand: ["person"],
    segments: request.segments,
    onNote,
    toBatch: (rows) => rows,
    take: (rows) => collected.add(rows),
  }).catch(rethrowTooMany);
  return collected.facts(command);
}

export function lastSecond({ until, asOf }: Pick<ReportRequest, "until" | "asOf">): number {
  return Math.min(until ?? asOf, asOf);
}

/** `before` is the range to compare with; null if no start is given. */
function createCollector(request: ReportRequest) {
  const { since, segments } = request;
  const start = since ?? -Infinity;
  const counted = emptyCounts(segments);
  const scores = Array.from({ length: SCORE_MAX + 1 }, () => 0);
  const periods = createPeriodCounts(request);
  const rowsHash = createHash("sha256");
  const people = new Set<string>();
  const newest: JsonObject[] = [];
  const answers = createMaskedAnswers(request);
  let commented = 0;
  const addAnswered = (row: JsonObject, score: number): void => {
    scores[score] = (scores[score] ?? 0) + 1;
    people.add(personIdOf(row));
    periods.add(timeOf(row), score);
    answers.add(row);
    if (typeof row["comment"] !== "string" || row["comment"].trim() === "") return;
    commented += 1;
    newest.push(row);
    if (newest.length > 2 * COMMENTS_MAX) newest.splice(0, COMMENTS_MAX);
  };
  const before = since === null ? null : rangeBefore({ since, until: request.until ?? request.asOf }, request.zone);
  return {
    before,
    add(rows: readonly JsonObject[]): void {
      for (const row of rows) {
        rowsHash.update(rowText(row));
        const score = scoreOf(row);
        if (score !== null && timeOf(row) >= start) addAnswered(row, score);
      }
      addPage(counted, countPage(rows, segments, start));
    },
    facts(command: string): ReportFacts {
      const tally = namedTally(counted);
      const isEmpty = countAnswers(tally.all.before) + countAnswers(tally.all.after) === 0;
      const missing = isEmpty ? [] : segments.filter((property) => tally.values.get(property)?.size === 0);
      const listed = periods.list();
      return {
        ...wordsOf(request),
        counts: { ...tally.all.after },
        people: people.size,
        commented,
        rates: request.rates,
        change: changeOfScore(request, before, tally, listed),
        periods: listed,
        scores,
        segments: segments.length === 0 ? null : { ...toSegments(tally, before !== null, request.personal), missing },
        questions: answers.results(),
        comments: toComments(newest.slice(-COMMENTS_MAX).toReversed(), request),
        redacted: !request.personal,
        rowsHash: rowsHash.digest("hex"),
        command,
        version: VERSION,
      };
    },
  };
}

function timeOf({ created_at: at }: JsonObject): number {
  return typeof at === "number" ? at : 0;
}

/** The text to hash. Excludes the link, which depends on the service's address, and most of the person. */
function rowText({ person, ...row }: JsonObject): string {
  const known = isJsonObject(person)
    ? ["id", "email", "name", "phone_number"].map((name) => person[name] ?? null)
    : (person ?? null);
  const fields = Object.entries(row).filter(([name]) => name !== "permalink");
  return `${JSON.stringify([known, ...fields.toSorted(([a], [b]) => (a < b ? -1 : 1))])}\n`;
}

function wordsOf(request: ReportRequest) {
  const { title, sponsor, zone, since, asOf } = request;
  const write = createTimeFormatter({ format: "local", zone, now: asOf });
  const until = request.until === null ? null : lastSecond(request);
  const range = describeRange({ since, until }, { zone, now: asOf, unicode: true });
  return { title, sponsor, zone, asOf: write(asOf), range: capital(range) };
}

/** If no start is given, the range begins with the first answer. */
function createPeriodCounts(request: ReportRequest) {
  const { asOf, zone } = request;
  let all: readonly { readonly period: Period; readonly counts: Record<Kind, number> }[] = [];
  let at = 0;
  return {
    add(time: number, score: number): void {
      if (all.length === 0)
        all = periodsFrom(request.since ?? time, request).map((period) => ({
          period,
          counts: noScores(),
        }));
      while (at < all.length - 1 && time > (all[at]?.period.until ?? Infinity)) at += 1;
      const counts = all[at]?.counts;
      if (counts !== undefined) counts[kindOf(score)] += 1;
    },
    list: (): PeriodScore[] =>
      all.map(({ period, counts }) => ({
        label: period.period,
        counts,
        ...coverageOf(period, { since: request.since, now: asOf, zone }),
      })),
  };
}

function periodsFrom(since: number, request: ReportRequest): readonly Period[] {
  const { by, asOf: now, zone } = request;
  const days = (lastSecond(request) - since) / DAY_SECONDS;
  const unit = by ?? unitFor(days);
  const { periods } = listPeriods({ unit, since, until: request.until, now, zone });
  if (periods.length <= PERIODS_MAX) return periods;
  throw new UsageError(`--by ${unit}: more than ${PERIODS_MAX} periods`, { hint: "use a longer period" });
}

/** Without a start date there's no previous range to compare with, so this compares the last two complete periods. */
function changeOfScore(
  { since }: ReportRequest,
  before: RangeBefore | null,
  { all }: SegmentTally,
  periods: readonly PeriodScore[],
): ChangeFacts | null {
  if (since !== null && before !== null) {
    const words = `against ${before.period ?? lengthBefore(before)}`;
    return { before: { ...all.before }, after: { ...all.after }, words };
  }
  const [first, second] = periods.filter(isComplete).slice(-2);
  if (first === undefined || second === undefined) return null;
  return { before: first.counts, after: second.counts, words: `from ${first.label} to ${second.label}` };
}

function lengthBefore({ since, until }: RangeBefore): string {
  const days = Math.round((until - since + 1) / DAY_SECONDS);
  return `the ${days < 1 ? "period" : days === 1 ? "day" : `${days} days`} before`;
}

function toSegments(tally: SegmentTally, compared: boolean, personal: boolean): Omit<SegmentFacts, "missing"> {
  const minN = FEW_ANSWERS;
  const { rows, hidden } = segmentRows(tally, { confidence: CONFIDENCE_DEFAULT, minN, compared });
  const masker = createMasker();
  const shown = personal ? rows : rows.map((row) => ({ ...row, value: masker.text(row.value) }));
  return { rows: shown, hidden, minN, compared };
}

function toComments(rows: readonly JsonObject[], { personal, zone, asOf }: ReportRequest): ReportComment[] {
  const write = createTimeFormatter({ format: "local", zone, now: asOf });
  return reportComments(rows, { personal, day: (at) => write(at).slice(0, "2026-01-31".length) });
}

import type { JsonObject } from "../../contract/json.ts";
import { SCORE_MAX } from "../../contract/limits.ts";
import { createMaskedAnswers } from "../../insight/answers/masked-answers.ts";
import { CONFIDENCE_DEFAULT, countAnswers, FEW_ANSWERS } from "../../insight/interval.ts";
import { createMasker } from "../../insight/redact.ts";
import {
  type ChangeFacts,
  type PeriodScore,
  type ReportComment,
  reportComments,
  type SegmentFacts,
} from "../../insight/report/facts.ts";
import type { LiveFacts } from "../../insight/report/live-page.ts";
import { addValue, createTally, segmentRows, type SegmentTally, TooManyValuesError } from "../../insight/segments.ts";
import { type Clock, nextTurn, unixSeconds } from "../../runtime/clock.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { SenderSettings } from "../delivery/message/sender.ts";
import type { ScoreTally, Store, Transaction } from "../domain/ports.ts";
import { channelRates } from "../domain/answers/metrics.ts";
import { countsOfScores, type DayTally } from "../domain/shares/day-tally.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { keepDays, tallyAnswers } from "../domain/shares/shares.ts";
import { newestResponses } from "../newest-responses.ts";
import { readSurveyWords } from "../domain/surveys/survey-words.ts";
import { ownQuestion } from "../domain/texts/survey-texts.ts";
import { showProject } from "../page/page-request.ts";
import { dayText, type RangeName, type RangeStart, sharedPeriods, startOfDay, startOfRange } from "./ranges.ts";

export interface ShareFacts extends LiveFacts {
  readonly since: number | null;
  readonly until: number;
}

export interface FactsOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly sender: SenderSettings;
}

interface CountedDay {
  readonly day: number;
  readonly tally: DayTally;
}

export async function readShareFacts(
  { store, clock, sender }: FactsOptions,
  share: ShareRow,
  range: RangeName,
): Promise<ShareFacts> {
  const now = unixSeconds(clock);
  const shown = startOfRange(range, now);
  // Counting a million answers takes a second or two, without blocking other work.
  await keepDays(store, share, { first: shown?.first ?? null, last: utcDay(now) - 1 });
  const sentIn = { since: shown === null ? null : startOfDay(shown.first), until: now };
  const { days, change, channels, title, project } = await store.read(async (tx) => ({
    days: await readDays(tx, share, shown?.first ?? null, now),
    change: shown === null ? null : await countBefore(tx, share, shown),
    // Surveys don't belong to trends, so a trend has no response rates.
    channels: share.trendId === null ? await channelRates(tx, share.project, sentIn) : [],
    title: share.name,
    // The logo's URL is relative to the page, because a proxy may add a path prefix.
    project: await showProject(tx, { ...sender, base: ".." }, share.project),
  }));
  const start = shown?.first ?? days[0]?.day ?? null;
  const counts = scoreCounts(days);
  const since = start === null ? null : startOfDay(start);
  return {
    title,
    sponsor: project.brand.name,
    brand: project.brand,
    question: ownQuestion(readSurveyWords({}, project.presentation)),
    range: start === null ? "All time" : `${dayText(start)} – ${dayText(utcDay(now))}`,
    computedAt: new Date(now * 1000).toISOString().replace(/T(.*)\.000Z/, " $1 UTC"),
    since,
    until: now,
    counts,
    scores: scoreDistribution(days),
    commented: days.reduce((sum, { tally }) => sum + tally.commented, 0),
    rates: { channels, areOpen: true },
    change: change === null ? null : { ...change, after: counts },
    periods: start === null ? [] : periodScores(days, start, now, shown === null),
    segments: share.segments.length === 0 ? null : segmentFacts(days, share.segments),
    ...(await readNewest(store, share, { since: since ?? now, until: now }, countAnswers(counts))),
    redacted: true,
  };
}

async function countBefore(
  tx: Transaction,
  { project, trendId }: ShareRow,
  { before, first, words }: RangeStart,
): Promise<Omit<ChangeFacts, "after">> {
  const range = { since: startOfDay(before), until: startOfDay(first) - 1, trendId };
  return { before: await tx.responses.countScores(project.id, range), words: `against ${words}` };
}

/** Today isn't cached, nor is a day that has changed since it was counted. */
async function readDays(tx: Transaction, share: ShareRow, first: number | null, now: number): Promise<CountedDay[]> {
  const today = utcDay(now);
  const found: CountedDay[] = [];
  for (const { day, tally } of await tx.shares.days(share, { first, last: today })) {
    const range = { since: startOfDay(day), until: Math.min(now, startOfDay(day + 1) - 1) };
    found.push({ day, tally: tally ?? (await tallyAnswers(tx, share, range)) });
  }
  return found;
}

function scoreDistribution(days: readonly CountedDay[]): number[] {
  return Array.from({ length: SCORE_MAX + 1 }, (_, score) =>
    days.reduce((sum, { tally }) => sum + (tally.scores[score] ?? 0), 0),
  );
}

function scoreCounts(days: readonly CountedDay[]): ScoreTally {
  return countsOfScores(scoreDistribution(days));
}

function periodScores(days: readonly CountedDay[], first: number, now: number, isOpen: boolean): PeriodScore[] {
  return sharedPeriods(first, now, isOpen).map(({ label, isRunning, isCut, ...period }) => {
    const counts = scoreCounts(days.filter(({ day }) => day >= period.first && day <= period.last));
    return { label, counts, isRunning, isCut };
  });
}

function segmentFacts(days: readonly CountedDay[], properties: readonly string[]): SegmentFacts {
  const options = { confidence: CONFIDENCE_DEFAULT, minN: FEW_ANSWERS, compared: false };
  const tallies = properties.map((property) => ({ property, tally: segmentTally(days, property) }));
  const found = tallies.flatMap(({ tally }) => (tally === null ? [] : [segmentRows(tally, options)]));
  const missing = tallies.filter(({ property, tally }) => tally?.values.get(property)?.size === 0);
  const tooManyValues = tallies.filter(({ tally }) => tally === null);
  const masker = createMasker();
  return {
    rows: found.flatMap(({ rows }) => rows.map((row) => ({ ...row, value: masker.text(row.value) }))),
    hidden: found.reduce((sum, { hidden }) => sum + hidden, 0),
    minN: FEW_ANSWERS,
    compared: false,
    missing: missing.map(({ property }) => property),
    tooManyValues: tooManyValues.map(({ property }) => property),
  };
}

function segmentTally(days: readonly CountedDay[], property: string): SegmentTally | null {
  const tally = createTally([property]);
  try {
    for (const { tally: day } of days) {
      const values = day.segments[property] ?? null;
      if (values === null) return null;
      for (const [value, [detractors, passives, promoters]] of Object.entries(values))
        addValue(tally, property, value, { before: NOBODY, after: { detractors, passives, promoters } });
    }
    return tally;
  } catch (error) {
    if (error instanceof TooManyValuesError) return null;
    throw error;
  }
}

const NOBODY = { detractors: 0, passives: 0, promoters: 0 };

const NEWEST_MAX = 500;
/** Maximum characters of the newest answers as JSON; counting more would take too long. */
const TEXT_MAX = 1_000_000;
const COMMENTS_MAX = 200;

type NewestFacts = Pick<LiveFacts, "questions" | "questionsAmong" | "comments">;

interface Range {
  readonly since: number;
  readonly until: number;
}

/** `count` is the number of answers in the range. Personal data is masked. */
async function readNewest(store: Store, share: ShareRow, range: Range, count: number): Promise<NewestFacts> {
  const { showsComments } = share;
  const haveQuestions = await store.read((tx) => tx.responses.haveAnswers(share.project.id));
  const rows = showsComments || haveQuestions ? await readRows(store, share, range) : [];
  const comments = showsComments ? toComments(rows) : null;
  await nextTurn();
  const answers = createMaskedAnswers({ personal: false });
  for (const row of rows.toReversed()) answers.add(row);
  // Free-text answers count as comments.
  const questions = answers.results().map((one) => (showsComments ? one : { ...one, words: null }));
  return { questions, questionsAmong: rows.length < count ? rows.length : null, comments };
}

async function readRows(store: Store, { project, trendId }: ShareRow, range: Range): Promise<readonly JsonObject[]> {
  const rows: JsonObject[] = [];
  let [seen, characters] = [0, 0];
  for await (const text of newestResponses(store, project.id, { ...range, trendId })) {
    characters += text.length;
    if (characters > TEXT_MAX) break;
    const row = JSON.parse(text) as JsonObject;
    if (row["survey_type"] === "nps") rows.push(row);
    seen += 1;
    if (seen === NEWEST_MAX) break;
  }
  return rows;
}

function toComments(rows: readonly JsonObject[]): readonly ReportComment[] {
  const commented = rows.filter(({ comment }) => typeof comment === "string" && comment.trim() !== "");
  return reportComments(commented.slice(0, COMMENTS_MAX), { personal: false, day: (at) => dayText(utcDay(at)) });
}

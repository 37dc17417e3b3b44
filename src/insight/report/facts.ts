import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import type { Channel } from "../../contract/routes.ts";
import { countOf, formatCount } from "../../contract/text/whole-number.ts";
import type { QuestionResult } from "../answers/answer-tally.ts";
import type { Coverage } from "../coverage.ts";
import {
  changeVerdict,
  CONFIDENCE_DEFAULT,
  countAnswers,
  FEW_ANSWERS,
  netPromoterScore,
  scoreChange,
  type ScoreCounts,
  scoreInterval,
} from "../interval.ts";
import { createMasker } from "../redact.ts";
import type { SegmentRow } from "../segments.ts";

/** Times are formatted for the reader, such as `2026-05-01 – 2026-05-31`. */
export interface ScoreFacts {
  readonly title: string;
  /** The brand and project if the title doesn't name them, or null. */
  readonly sponsor: string | null;
  readonly range: string;
  readonly counts: ScoreCounts;
  readonly commented: number;
  readonly rates: ResponseRates | null;
  readonly change: ChangeFacts | null;
  readonly periods: readonly PeriodScore[];
  readonly scores: readonly number[];
  readonly segments: SegmentFacts | null;
  readonly redacted: boolean;
}

export interface ReportFacts extends ScoreFacts {
  readonly asOf: string;
  readonly zone: string;
  readonly people: number;
  readonly questions?: readonly QuestionResult[];
  readonly comments: readonly ReportComment[];
  readonly rowsHash: string;
  readonly command: string;
  readonly version: string;
}

export type DigestFacts = Pick<
  ReportFacts,
  "title" | "range" | "counts" | "commented" | "rates" | "change" | "questions" | "comments"
>;

export interface ResponseRates {
  readonly channels: readonly {
    readonly channel: Channel;
    readonly sent: number;
    readonly rate: number;
  }[];
  readonly areOpen: boolean;
}

const OPEN_SECONDS = 14 * 86_400;

/** Whether rates can still rise; answers keep coming in for two weeks. Times are Unix seconds. */
export function areRatesOpen(until: number, now: number): boolean {
  return until > now - OPEN_SECONDS;
}

export interface ChangeFacts {
  readonly before: ScoreCounts;
  readonly after: ScoreCounts;
  /** `against the 31 days before`, `from 2026-04 to 2026-05`. */
  readonly words: string;
}

export interface PeriodScore extends Coverage {
  readonly label: string;
  readonly counts: ScoreCounts;
}

export interface SegmentFacts {
  readonly rows: readonly SegmentRow[];
  readonly hidden: number;
  readonly minN: number;
  readonly compared: boolean;
  readonly missing: readonly string[];
  readonly tooManyValues?: readonly string[];
}

export interface ReportComment {
  readonly id: string;
  readonly score: number;
  readonly text: string;
  readonly at: string;
  readonly person: string | null;
  readonly url: string | null;
}

export interface ScoreFigure {
  readonly n: number;
  readonly nps: number;
  readonly low: number;
  readonly high: number;
  readonly isFew: boolean;
}

export function scoreFigure(counts: ScoreCounts): ScoreFigure | null {
  const [nps, interval, n] = [netPromoterScore(counts), scoreInterval(counts), countAnswers(counts)];
  if (nps === null || interval === null) return null;
  return { n, nps, low: interval.low, high: interval.high, isFew: n < FEW_ANSWERS };
}

export const CONFIDENCE_WORDS = `${CONFIDENCE_DEFAULT * 100}%`;

/** `NPS 51, between 29 and 67; no evidence of a change against the 31 days before.` */
export function headline({ counts, change }: Pick<ReportFacts, "counts" | "change">): string {
  const figure = scoreFigure(counts);
  if (figure === null) return "No answers: there is no score.";
  const score = `NPS ${scoreText(figure.nps)}, between ${scoreText(figure.low)} and ${scoreText(figure.high)}`;
  if (figure.isFew) return `${score}; ${countOf(figure.n, "answer")}, too few to say.`;
  return change === null ? `${score}.` : `${score}; ${changeWords(change)}.`;
}

function changeWords(change: ChangeFacts): string {
  const found = changeVerdict(change.before, change.after);
  const size = scoreChange(change.before, change.after);
  if (size === null || found === "too few") return `too few answers to say whether it changed ${change.words}`;
  if (found === "no evidence") return `no evidence of a change ${change.words}`;
  return `a ${found} of ${pointsText(Math.abs(size.change))} points ${change.words}`;
}

/** `2026-05-01 – 2026-05-31 · n 51 · 95% interval`. */
export function basisLine({ counts, range }: Pick<ReportFacts, "counts" | "range">): string {
  const n = countAnswers(counts);
  return `${range} · n ${formatCount(n)}${n === 0 ? "" : ` · ${CONFIDENCE_WORDS} interval`}`;
}

const MESSAGES = { email: "email", sms: "text message" } as const;

export function rateLabel({ areOpen }: Pick<ResponseRates, "areOpen">): string {
  return areOpen ? "Response rate so far" : "Response rate";
}

export function rateText({ channel, sent, rate }: ResponseRates["channels"][number]): string {
  return `${shareText(rate)} of ${countOf(sent, MESSAGES[channel])}`;
}

/** `Response rate so far: 21% of 1,234 emails`; null if nothing was sent or reported. */
export function rateLine({ rates }: Pick<ReportFacts, "rates">): string | null {
  if (rates === null || rates.channels.length === 0) return null;
  return `${rateLabel(rates)}: ${rates.channels.map(rateText).join(", ")}`;
}

/** Rounds halves away from zero, like the API. */
export function scoreText(nps: number): string {
  return String(Math.sign(nps) * Math.round(Math.abs(nps)) || 0);
}

/** One decimal, or none for whole numbers; never `-0`. */
export function pointsText(value: number): string {
  const rounded = Math.round(value * 10) / 10 || 0;
  return Number.isInteger(rounded) ? String(rounded) : rounded.toFixed(1);
}

export function columnText(value: number): string {
  return (Math.round(value * 10) / 10 || 0).toFixed(1);
}

export function signedText(value: number): string {
  return value > 0 ? `+${columnText(value)}` : columnText(value);
}

export function shareText(share: number): string {
  return `${Math.round(share * 100)}%`;
}

export function probabilityText(p: number): string {
  return p < 0.001 ? "<0.001" : p.toFixed(3);
}

interface CommentOptions {
  readonly personal: boolean;
  readonly day: (at: number) => string;
  readonly urlOf?: (row: JsonObject) => string | null;
}

export function reportComments(
  rows: readonly JsonObject[],
  { personal, day, urlOf = () => null }: CommentOptions,
): ReportComment[] {
  const masker = createMasker();
  return rows.map((row) => {
    const { id, score, created_at: at } = row;
    const { comment } = personal ? row : masker.row(row, ({ comment: text = null }) => ({ comment: text }));
    return {
      id: typeof id === "string" ? id : JSON.stringify(id ?? null),
      score: typeof score === "number" ? score : 0,
      text: typeof comment === "string" ? comment : "",
      at: day(typeof at === "number" ? at : 0),
      person: personal ? personName(row) : null,
      url: urlOf(row),
    };
  });
}

function personName({ person }: JsonObject): string | null {
  if (!isJsonObject(person)) return null;
  const { name, email, phone_number: phone } = person;
  const known = [name, email, phone].find((text) => typeof text === "string" && text !== "");
  return typeof known === "string" ? known : null;
}

const COMMENT_CHARACTERS_MAX = 1000;

/** Removes control characters, which aren't allowed in HTML and messages. */
export function visibleText(text: string): string {
  return text
    .replace(/\r\n?/gu, "\n")
    .trim()
    .replace(/[^\P{Cc}\n\t]/gu, "\ufffd");
}

export function cutText(text: string, max = COMMENT_CHARACTERS_MAX): string {
  if (text.length <= max) return text;
  const characters = Array.from(text);
  if (characters.length <= max) return text;
  return `${characters.slice(0, max).join("")}… (${formatCount(characters.length - max)} more characters)`;
}

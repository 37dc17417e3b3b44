import { parseJson } from "../../../contract/json.ts";
import { emailProblem } from "../../../contract/text/email.ts";
import { SCORE_MAX, SCORE_MIN } from "../../../contract/limits.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { phoneProblem } from "../../../contract/text/phone.ts";
import { readWholeNumber } from "../../../contract/text/whole-number.ts";
import { CHANNELS } from "../../../contract/routes.ts";

export type CellValue = string | number | boolean;

type RuleResult = { readonly value: CellValue } | { readonly problem: string };

/** `time` and `delay` return null for invalid text. */
export interface ValueReaders {
  readonly time: (text: string) => number | null;
  readonly latestTime: number;
  readonly delay: (text: string) => number | null;
}

type Rule = (text: string, readers: ValueReaders) => RuleResult;

const problem = (text: string): RuleResult => ({ problem: text });

/** Whether a spreadsheet has rounded a number, as in `4.47E+11`. */
function isScientific(text: string): boolean {
  return /^[+-]?\d(?:[.,]\d+)?E[+-]?\d+$/i.test(text);
}

function scientificAdvice(text: string, what: string): string {
  const fix = "format the column as text and enter it again";
  return `${quoteText(text)} is ${what} rounded by a spreadsheet; its digits are lost; ${fix}`;
}

const YES = new Set(["true", "yes", "1"]);
const NO = new Set(["false", "no", "0"]);

/** Days since 1900, from 1954 to 2091: how spreadsheets store dates. */
const SPREADSHEET_DAY = /^[2-6]\d{4}(?:[.,]\d+)?$/;

export const RULES = {
  id(text) {
    if (isScientific(text)) return problem(scientificAdvice(text, "an id"));
    return { value: text.replace(/^(\d+)\.0+$/, "$1") };
  },
  email(text) {
    const fault = emailProblem(text);
    return fault === null ? { value: text } : problem(`${quoteText(text)} is not an e-mail address: it ${fault}`);
  },
  phone(text) {
    const fault = phoneProblem(text);
    if (fault === null) return { value: text };
    return problem(isScientific(text) ? scientificAdvice(text, "a number") : `${quoteText(text)} ${fault}`);
  },
  text: (text) => ({ value: text }),
  comment: (text) => ({ value: text }),
  channel(text) {
    const channel = text.toLowerCase();
    if ((CHANNELS as readonly string[]).includes(channel)) return { value: channel };
    return problem(`${quoteText(text)} is not a channel; give ${CHANNELS.join(" or ")}`);
  },
  delay(text, { delay }) {
    const seconds = delay(text);
    return seconds === null
      ? problem(`${quoteText(text)} is not a delay; give seconds, 90s, 15m, 2h, 1d, 2w, tomorrow or a later time`)
      : { value: seconds };
  },
  send(text) {
    const word = text.toLowerCase();
    if (YES.has(word)) return { value: true };
    return NO.has(word) ? { value: false } : problem(`${quoteText(text)} is neither true, yes, 1 nor false, no, 0`);
  },
  time(text, { time, latestTime }) {
    if (isScientific(text)) return problem(scientificAdvice(text, "a time"));
    if (SPREADSHEET_DAY.test(text))
      return problem(
        `${quoteText(text)} is a spreadsheet's day number; format the column as a date such as 2026-01-31`,
      );
    const seconds = time(text);
    if (seconds === null)
      return problem(`${quoteText(text)} is not a time; give Unix seconds, 2026-01-31 or 2026-01-31T09:30:00Z`);
    return seconds > latestTime ? problem(`${quoteText(text)} is more than a day ahead`) : { value: seconds };
  },
  score(text) {
    const score = readWholeNumber(text) ?? Number.NaN;
    if (score >= SCORE_MIN && score <= SCORE_MAX) return { value: score };
    return problem(`${quoteText(text)} is not a score; give a whole number from ${SCORE_MIN} to ${SCORE_MAX}`);
  },
  /** A score on another scale would distort the NPS. */
  nps(text) {
    if (text.toLowerCase() === "nps") return { value: "nps" };
    return problem(`${quoteText(text)} is not nps; its score would count in the NPS`);
  },
  answers(text) {
    if (Array.isArray(parseJson(text))) return { value: text };
    return problem(`${quoteText(text)} is not a JSON array of answers, as an export writes it`);
  },
} as const satisfies Readonly<Record<string, Rule>>;

export type FieldRule = keyof typeof RULES;

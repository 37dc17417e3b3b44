/** One function a rule: from the text of a cell to its value, or to the problem and its fix. */
import { parseJson } from "../../../contract/json.ts";
import { emailProblem } from "../../../contract/text/email.ts";
import { SCORE_MAX, SCORE_MIN } from "../../../contract/limits.ts";
import { quoteText } from "../../../contract/text/invisible.ts";
import { phoneProblem } from "../../../contract/text/phone.ts";
import { readWholeNumber } from "../../../contract/text/whole-number.ts";
import { CHANNELS } from "../../../contract/routes.ts";
import type { CellValue, FieldRule } from "./row-kind.ts";

type Ruling = { readonly value: CellValue } | { readonly problem: string };

/** Readers of forms that other commands take too: null when the text has none of them. */
export interface ValueReaders {
  readonly time: (text: string) => number | null;
  /** Unix seconds; later times are invalid. */
  readonly latestTime: number;
  readonly delay: (text: string) => number | null;
}

export type Rule = (text: string, readers: ValueReaders) => Ruling;

const problem = (text: string): Ruling => ({ problem: text });

function readText(text: string): Ruling {
  return { value: text };
}

function readId(text: string): Ruling {
  if (isScientific(text)) return problem(scientificAdvice(text, "an id"));
  return { value: text.replace(/^(\d+)\.0+$/, "$1") };
}

function readEmail(text: string): Ruling {
  const fault = emailProblem(text);
  return fault === null ? { value: text } : problem(`${quoteText(text)} is not an e-mail address: it ${fault}`);
}

function readPhone(text: string): Ruling {
  const fault = phoneProblem(text);
  if (fault === null) return { value: text };
  return problem(isScientific(text) ? scientificAdvice(text, "a number") : `${quoteText(text)} ${fault}`);
}

/** `4.47E+11`: the spreadsheet dropped digits, so the number is lost. */
function isScientific(text: string): boolean {
  return /^[+-]?\d(?:[.,]\d+)?E[+-]?\d+$/i.test(text);
}

function scientificAdvice(text: string, what: string): string {
  const fix = "format the column as text and enter it again";
  return `${quoteText(text)} is ${what} rounded by a spreadsheet; its digits are lost; ${fix}`;
}

function readChannel(text: string): Ruling {
  const channel = text.toLowerCase();
  if ((CHANNELS as readonly string[]).includes(channel)) return { value: channel };
  return problem(`${quoteText(text)} is not a channel; give ${CHANNELS.join(" or ")}`);
}

function readDelay(text: string, { delay }: ValueReaders): Ruling {
  const seconds = delay(text);
  return seconds === null
    ? problem(`${quoteText(text)} is not a delay; give seconds, 90s, 15m, 2h, 1d, 2w, tomorrow or a later time`)
    : { value: seconds };
}

const YES = new Set(["true", "yes", "1"]);
const NO = new Set(["false", "no", "0"]);

function readSend(text: string): Ruling {
  const word = text.toLowerCase();
  if (YES.has(word)) return { value: true };
  return NO.has(word) ? { value: false } : problem(`${quoteText(text)} is neither true, yes, 1 nor false, no, 0`);
}

/** Days since 1900 from 1954 to 2091: a date of a spreadsheet whose cell is formatted as a number. */
const SPREADSHEET_DAY = /^[2-6]\d{4}(?:[.,]\d+)?$/;

function readTime(text: string, { time, latestTime }: ValueReaders): Ruling {
  if (isScientific(text)) return problem(scientificAdvice(text, "a time"));
  if (SPREADSHEET_DAY.test(text))
    return problem(`${quoteText(text)} is a spreadsheet's day number; format the column as a date such as 2026-01-31`);
  const seconds = time(text);
  if (seconds === null)
    return problem(`${quoteText(text)} is not a time; give Unix seconds, 2026-01-31 or 2026-01-31T09:30:00Z`);
  return seconds > latestTime ? problem(`${quoteText(text)} is more than a day ahead`) : { value: seconds };
}

/** A response that is added is an answer to an NPS survey: another scale would count there as a score. */
function readNpsType(text: string): Ruling {
  if (text.toLowerCase() === "nps") return { value: "nps" };
  return problem(`${quoteText(text)} is not nps; its score would count in the NPS`);
}

function readScore(text: string): Ruling {
  const score = readWholeNumber(text) ?? Number.NaN;
  if (score >= SCORE_MIN && score <= SCORE_MAX) return { value: score };
  return problem(`${quoteText(text)} is not a score; give a whole number from ${SCORE_MIN} to ${SCORE_MAX}`);
}

function readAnswers(text: string): Ruling {
  if (Array.isArray(parseJson(text))) return { value: text };
  return problem(`${quoteText(text)} is not a JSON array of answers, as an export writes it`);
}

export const RULES: Readonly<Record<FieldRule, Rule>> = {
  id: readId,
  email: readEmail,
  phone: readPhone,
  text: readText,
  comment: readText,
  channel: readChannel,
  delay: readDelay,
  send: readSend,
  time: readTime,
  score: readScore,
  nps: readNpsType,
  answers: readAnswers,
};

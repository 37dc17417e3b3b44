/** In a text message, an opt-out takes precedence over an answer. */
import { SCORE_MAX } from "../../../contract/limits.ts";
import { multiLine } from "../texts/plain-text.ts";
import { fold } from "./fold.ts";
import { AROUND_NUMBERS } from "./keywords.ts";
import { type KeywordMeaning, hasOnly, mayWantToStop, readKeyword, type TextContext } from "./stop-wish.ts";

interface Score {
  readonly kind: "score";
  readonly score: number;
  readonly comment: string | null;
}

export type AnswerMeaning = { readonly mayWantToStop: boolean } & (
  | Score
  /** A comment, even if we didn't ask for one. Can be empty. */
  | { readonly kind: "words"; readonly text: string }
);

export function isKeyword(meaning: KeywordMeaning | AnswerMeaning): meaning is KeywordMeaning {
  return meaning.kind !== "score" && meaning.kind !== "words";
}

/** If there already is a score, it only changes if the message contains nothing but a score. Never throws. */
export function readTextMeaning(
  given: string,
  context: TextContext = { asked: "score", locale: null },
): KeywordMeaning | AnswerMeaning {
  const text = multiLine(given);
  const keyword = readKeyword(text, context);
  if (keyword !== null) return keyword;
  const score = context.asked === "score" ? readScore(text) : null;
  if (score !== null) return { ...score, mayWantToStop: mayWantToStop(score.comment ?? "", "comment") };
  const alone = readScore(text.replace(AROUND, ""));
  if (alone !== null && isNothing(alone.comment)) return { ...alone, comment: null, mayWantToStop: false };
  const isThanks = context.asked === null && hasOnly(text, ["thanks"]);
  return { kind: "words", text: isThanks ? "" : text, mayWantToStop: mayWantToStop(text, context.asked) };
}

const { outOf, between, counted } = AROUND_NUMBERS;
const [OUT_OF, BETWEEN, COUNTED] = [outOf.map(fold), between.map(fold), counted.map(fold)];
const AROUND = new RegExp(String.raw`^(?:(?:${AROUND_NUMBERS.score.join("|")})(?!\p{L})[\s,.:;!…–—]*)+`, "iu");

function isNothing(comment: string | null): boolean {
  const rest = (comment ?? "").replace(AROUND, "");
  return rest === "" || hasOnly(rest);
}

/** One or two digits of any script at the start, perhaps followed by "/10". */
const HEAD =
  /^[\s\p{Cf}"'“”„«»‘’(*#]*(\p{Nd}{1,2})(?:\uFE0F?\u20E3)?\p{Cf}*(?:\s*[/／⁄]\s*(\p{Nd}{2})(?!\p{Nd}))?(.*)$/su;
/** Characters that can follow a score. "9.5", "9:30", "9th", "9-5" and "9%" aren't scores. */
const AFTER =
  /^(?:$|[分点點점]|\p{Extended_Pictographic}|[.,!?;:…。！？，、；："'”’»)*+]+(?=$|\s|\p{L}|\p{Extended_Pictographic})|\s+(?![-–—]\s*\p{Nd}))/u;
const BEFORE_COMMENT = /^(?:[\s.,!?;:…。！？，、；："'”’»)*+–—-]|[分点點점](?!\p{L}))+/u;
/** A second number on the same line, and the words before it. */
const SECOND_NUMBER = /^ ?([\p{L}\p{M}'’ ]{0,20}?) ?[-–—~]? ?(\p{Nd}{1,2})(?!\p{Nd})(.*)$/su;
const SIGN = /^\s*[\p{Sc}\p{No}%‰°⭐🌟★☆]/u;

function readScore(text: string): Score | null {
  const [, digits = "", limit, after = ""] = HEAD.exec(text.replace("🔟", "10 ")) ?? [];
  if (digits === "" || (limit !== undefined && toNumber(limit) !== SCORE_MAX)) return null;
  const score = toNumber(digits);
  if (score > SCORE_MAX || !AFTER.test(after)) return null;
  const [, words, second = "", afterSecond = ""] = SECOND_NUMBER.exec(after.replaceAll(/[^\S\n]+/g, " ")) ?? [];
  const joint = words === undefined ? null : fold(words);
  const isOfTen = joint !== null && OUT_OF.includes(joint) && toNumber(second) === SCORE_MAX;
  if (!isOfTen && (hasUnit(after) || isAnotherNumber(joint))) return null;
  const comment = (isOfTen ? afterSecond : after).replace(BEFORE_COMMENT, "").trim();
  return { kind: "score", score, comment: comment === "" ? null : comment };
}

/** Whether the words between two numbers mean that they aren't a score, as in "8 or 9" and "5 out of 5". */
function isAnotherNumber(joint: string | null): boolean {
  return joint !== null && ["", ...BETWEEN, ...OUT_OF].includes(joint);
}

function hasUnit(after: string): boolean {
  const words = /^[^\S\n]+\p{L}/u.test(after) ? `${fold(after)} ` : "";
  return SIGN.test(after) || COUNTED.some((word) => words.startsWith(`${word} `));
}

function toNumber(digits: string): number {
  return Number(Array.from(digits, (digit) => digitValue(digit.codePointAt(0) ?? 0)).join(""));
}

const isDigit = (codePoint: number): boolean => /^\p{Nd}$/u.test(String.fromCodePoint(codePoint));

/** In Unicode, the ten digits of every script are in order. */
function digitValue(codePoint: number): number {
  let before = 0;
  while (isDigit(codePoint - before - 1)) before += 1;
  return before % 10;
}

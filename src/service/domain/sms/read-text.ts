/**
 * The meaning of a person who answers a survey by text message. The wish to get no more is read before anything else.
 */
import { SCORE_MAX } from "../../../contract/limits.ts";
import { multiLine } from "../texts/plain-text.ts";
import { COURTESY, HELP_WORDS, PROVIDER_WORDS, START_WORDS, STOP_WORDS } from "./keywords.ts";

export interface KeywordMeaning {
  readonly kind: "stop" | "start" | "help";
  /** A single word that providers of text messages see and answer themselves. */
  readonly isCommon: boolean;
}

export type AnswerMeaning =
  | { readonly kind: "score"; readonly score: number; readonly comment: string | null }
  /** Without a score: a comment, where one was asked for. Empty for a message without any text. */
  | { readonly kind: "words"; readonly text: string };

export function isKeyword(meaning: KeywordMeaning | AnswerMeaning): meaning is KeywordMeaning {
  return meaning.kind !== "score" && meaning.kind !== "words";
}

/** Never throws; anything may come in. */
export function readTextMeaning(given: string): KeywordMeaning | AnswerMeaning {
  const text = multiLine(given);
  const keyword = readKeyword(text);
  if (keyword !== null) return keyword;
  return readScore(text) ?? { kind: "words", text };
}

/** Only as the whole message: "STOP this bill" is about a bill. Words of courtesy around it change nothing. */
function readKeyword(text: string): KeywordMeaning | null {
  const said = fold(text);
  const isCommon = PROVIDER_WORDS.has(said);
  const polite = withoutCourtesy(said);
  if (polite === "") return null;
  // "S.T.O.P." is a word all the same.
  const bare = polite.split(" ").every((word) => Array.from(word).length === 1) ? polite.replaceAll(" ", "") : polite;
  // Some say it twice.
  const [first = "", ...others] = bare.split(" ");
  const once = others.every((word) => word === first) ? first : bare;
  const kinds = [
    ["stop", STOP],
    ["start", START],
    ["help", HELP],
  ] as const;
  const kind = kinds.find(([, words]) => words.has(bare) || words.has(once))?.[0];
  return kind === undefined ? null : { kind, isCommon };
}

/**
 * Invisible characters: format characters, such as a zero-width space, and the selectors that phones put after an
 * emoji.
 */
const INVISIBLE = /[\p{Cf}\uFE00-\uFE0F]/gu;
/**
 * Latin, Greek and Cyrillic accents, and the marks that Arabic writes above and below its letters, or to lengthen them.
 */
const ACCENTS = /[\u0300-\u036F\u0640\u064B-\u0655]/g;

/** Words alone, without case, accents and punctuation, with one space between them. */
function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(INVISIBLE, "")
    .replaceAll(ACCENTS, "")
    .toLowerCase()
    .normalize("NFC")
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "")
    .join(" ");
}

const foldAll = (words: readonly string[]): ReadonlySet<string> => new Set(words.map(fold));
const [STOP, START, HELP] = [foldAll(STOP_WORDS), foldAll(START_WORDS), foldAll(HELP_WORDS)];
const POLITE = COURTESY.map(fold);

function withoutCourtesy(said: string): string {
  let rest = said;
  for (let before = ""; before !== rest;) {
    before = rest;
    for (const words of POLITE) {
      if (rest.endsWith(` ${words}`)) rest = rest.slice(0, -words.length - 1);
      if (rest.startsWith(`${words} `)) rest = rest.slice(words.length + 1);
    }
  }
  return POLITE.includes(rest) ? "" : rest;
}

/** One or two digits of any script at the start, and "/10" where the person writes it. */
const HEAD =
  /^[\s\p{Cf}"'“”„«»‘’(*#]*(\p{Nd}{1,2})(?:\uFE0F?\u20E3)?\p{Cf}*(?:\s*[/／⁄]\s*(\p{Nd}{2})(?!\p{Nd}))?(.*)$/su;
/** "9 out of 10", and the same in other languages. */
const OUT_OF =
  /^\s*(?:out of|of|von|sur|de|di|su|van|av|af|z|ze|iz|od|из|із|от|az|din|από|στα|iš|no|dari|daripada|trên|จาก|מתוך|من)\s+(\p{Nd}{2})(?!\p{Nd})/iu;
/**
 * The characters that may follow a number that stands for itself; "9.5", "9:30", "9th", "9-5" and "9%" are something
 * else.
 */
const AFTER =
  /^(?:$|[分点點점]|\p{Extended_Pictographic}|[.,!?;:…。！？，、；："'”’»)*+]+(?=$|\s|\p{L}|\p{Extended_Pictographic})|\s+(?![-–—]\s*\p{Nd}))/u;
const BEFORE_COMMENT = /^(?:[\s.,!?;:…。！？，、；："'”’»)*+–—-]|[分点點점](?!\p{L}))+/u;

function readScore(text: string): AnswerMeaning | null {
  const [, digits = "", limit, rest = ""] = HEAD.exec(text.replace("🔟", "10 ")) ?? [];
  if (digits === "" || (limit !== undefined && toNumber(limit) !== SCORE_MAX)) return null;
  const score = toNumber(digits);
  if (score > SCORE_MAX || !AFTER.test(rest)) return null;
  const [outOf = "", other] = OUT_OF.exec(rest) ?? [];
  const said = other !== undefined && toNumber(other) === SCORE_MAX ? rest.slice(outOf.length) : rest;
  const comment = said.replace(BEFORE_COMMENT, "").trim();
  return { kind: "score", score, comment: comment === "" ? null : comment };
}

function toNumber(digits: string): number {
  return Number(Array.from(digits, (digit) => digitValue(digit.codePointAt(0) ?? 0)).join(""));
}

const isDigit = (codePoint: number): boolean => /^\p{Nd}$/u.test(String.fromCodePoint(codePoint));

/** Unicode keeps the ten digits of each script together and in order. */
function digitValue(codePoint: number): number {
  let before = 0;
  while (isDigit(codePoint - before - 1)) before += 1;
  return before % 10;
}

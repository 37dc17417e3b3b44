import type { Locale } from "../../../contract/locales.ts";
import { fold } from "./fold.ts";
import { LOCALE_WORDS, PROVIDER_WORDS, type WordKind, WORDS, wordsIn } from "./keywords.ts";

export interface KeywordMeaning {
  readonly kind: "stop" | "start" | "help";
  /** True for a single word that SMS providers recognize and reply to themselves. */
  readonly isCommon: boolean;
}

export interface TextContext {
  /** What our last message asked for; null if it asked for nothing, or the survey isn't known. */
  readonly asked: "score" | "comment" | null;
  readonly locale: Locale | null;
}

/** If a word is in several lists, the last list counts. */
const KINDS: ReadonlyMap<string, WordKind> = new Map(
  (["filler", "thanks", "message", "no", "help", "start", "stop"] as const).flatMap((kind) =>
    WORDS[kind].map((word) => [fold(word), kind] as const),
  ),
);
const LONGEST_FIRST = [...KINDS.keys()].toSorted((left, right) => right.length - left.length);
const SPACELESS = /[\p{scx=Han}\p{scx=Hira}\p{scx=Kana}\p{scx=Hang}\p{scx=Thai}]$/u;
const CHARACTERS_MAX = 1000;
/** Matches the end of "STOP - Ada Lovelace". */
const SIGNATURE = /\s[-–—~]{1,2}\s*\p{Lu}[\p{L}.']*(?:\s\p{Lu}[\p{L}.']*){0,2}$/u;
/** "STOP 9" and "0 STOP" are wishes to stop, but "9 stop calling me" is an answer. */
const NUMBERS = /^(?:\p{Nd}+ )+|(?: \p{Nd}+)+$/gu;
const NUMBERED_WORDS = 2;
const CLAUSE_END = /[\n.,!?;:…。！？，、]+/;
/** Matches "not enough", "don't stop" and "niet stoppen". But "No stop" is an opt-out. */
const NEGATED = /\bno (?:filler )*stop\b/;
const NOTHING: readonly WordKind[] = ["filler", "thanks"];

/** Null if the text is an answer. An opt-out can also be one line of several, or a sentence about messages. */
export function readKeyword(given: string, { asked, locale }: TextContext): KeywordMeaning | null {
  const text = given.slice(0, CHARACTERS_MAX);
  // Providers don't recognize look-alike letters, which `fold` would replace.
  const isCommon = PROVIDER_WORDS.has(fold(text.replaceAll(/[^\p{ASCII}\p{Cf}\uFF00-\uFF5E]/gu, " ")));
  const own = locale === null ? [] : wordsIn(LOCALE_WORDS[locale].ordinary ?? "");
  // A stop word with accents, such as "dừng", isn't the ordinary word without them, such as "dung".
  const ordinary = own.filter((word) => text.normalize("NFC").toLowerCase().includes(word));
  const whole = readWords(fold(text), asked === null ? [] : ordinary);
  const kind = (["start", "help"] as const).find((one) => whole.includes(one));
  // After a score, "I need help" is a comment.
  const isComment = kind === "help" && whole.length > 1 && asked !== "score" && locale !== null;
  if (kind !== undefined && !isComment && whole.every((one) => one === kind || NOTHING.includes(one)))
    return { kind, isCommon };
  const lines = [...text.split("\n"), text.replace(SIGNATURE, "")].map((line) => readWords(fold(line), ordinary));
  const numbered = readWords(fold(text).replaceAll(NUMBERS, ""), ordinary);
  const sentences = text.split(/[.!?;…。！？]+/).map(fold);
  const clauses = text.split(CLAUSE_END).map((clause) => readWords(fold(clause).replace(/^no /, ""), ordinary));
  const isWish =
    [whole, ...lines].some(asksToStop) ||
    (asksToStop(numbered) && (numbered.length <= NUMBERED_WORDS || numbered.includes("message"))) ||
    (sentences.length > 1 && /^stopp?$/.test(sentences[0] ?? "")) ||
    sentences.map((one) => readWords(one, ordinary)).some((kinds) => asksToStop(kinds) && kinds.includes("message"));
  return isWish && !clauses.some((kinds) => NEGATED.test(kinds.join(" "))) ? { kind: "stop", isCommon } : null;
}

function asksToStop(kinds: readonly WordKind[]): boolean {
  return kinds.includes("stop") || (kinds.includes("no") && kinds.includes("message"));
}

/** Whether a text might be an opt-out without clearly being one. In a comment, "the end" isn't one. */
export function mayWantToStop(text: string, asked: TextContext["asked"]): boolean {
  const kinds = Array.from(fold(text).split(" "), (word) => KINDS.get(word));
  if (kinds.includes("no") && (kinds.includes("message") || !kinds.includes(undefined))) return true;
  if (asked === "score") return kinds.includes("stop");
  return kinds.find((kind) => kind === undefined || !NOTHING.includes(kind)) === "stop";
}

export function hasOnly(text: string, allowed = NOTHING): boolean {
  const kinds = readWords(fold(text));
  return kinds.length > 0 && kinds.every((kind) => allowed.includes(kind));
}

function readWords(folded: string, ordinary: readonly string[] = []): readonly WordKind[] {
  const kinds: WordKind[] = [];
  // "S.T.O.P." is a word too.
  const joined = /^(?:\S )+\S$/u.test(folded) ? folded.replaceAll(" ", "") : folded;
  for (let rest = joined; rest !== "";) {
    const word = LONGEST_FIRST.find((known) => startsWithWord(rest, known)) ?? "";
    const kind = KINDS.get(word);
    if (kind === undefined || ordinary.includes(word)) return [];
    kinds.push(kind);
    rest = rest.slice(word.length).trimStart();
  }
  return kinds;
}

function startsWithWord(text: string, word: string): boolean {
  return text.startsWith(word) && (SPACELESS.test(word) || text.length === word.length || text[word.length] === " ");
}

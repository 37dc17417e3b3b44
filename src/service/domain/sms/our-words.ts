import { fold } from "./fold.ts";
import { DRIVING } from "./keywords.ts";

/** A tapback as sent by iPhones and Android phones: a verb and the quoted text. */
const TAPBACK =
  /^(?:(?:dis)?liked|loved|laughed at|emphasi[sz]ed|questioned|reacted .{1,12} to|removed an? .{1,30} from|\P{L}{1,12} to)\s+(?:["“”„«].*["“”»]|an? (?:image|photo|message|attachment))$/isu;
/** Maximum number of words around the quote of a tapback in another language, such as "Hat „…“ geliebt". */
const TAPBACK_WORDS = 6;
/** Shorter lines, such as "Thank you!", could be the person's own. */
const LINE_MIN = 20;
const DRIVING_STARTS = DRIVING.map(fold);

/** Removes quotes of our own messages (`ours`); null if nothing else is left. */
export function withoutOurWords(text: string, ours: readonly string[]): string | null {
  const folded = fold(text);
  if (TAPBACK.test(text.trim()) || DRIVING_STARTS.some((start) => folded.startsWith(start))) return null;
  const lines = [...ours, ...ours.flatMap((one) => one.split("\n"))].filter(
    (line) => line.length >= LINE_MIN && text.includes(line),
  );
  const isQuoting = lines.some((line) => !/STOP/.test(line) || /\p{Nd}/u.test(line)) || /^>/m.test(text);
  // A person who only sends back our line about STOP wants to stop.
  if (!isQuoting) return text;
  const rest = lines.reduce((left, line) => left.replaceAll(line, ""), text.replaceAll(/^>.*$/gm, "")).trim();
  const words = fold(rest) === "" ? [] : fold(rest).split(" ");
  const isTapback = /["“”„«»「『]|‘’|''/.test(rest) && !/\p{Nd}/u.test(rest) && words.length <= TAPBACK_WORDS;
  return words.length === 0 || isTapback ? null : rest;
}

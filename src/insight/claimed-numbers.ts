/** Numbers that a summary claims of the responses: how many there are of a kind, their shares, and the score. */
import type { ScoreCategory } from "../contract/limits.ts";
import { netPromoterScore } from "./interval.ts";
import { createLineCounter } from "./text-lines.ts";

export type CountedNoun = "responses" | Kind;
type Kind = `${ScoreCategory}s`;

/** Lines count from 1; `decimals` are those that were written. */
export type NumberClaim =
  | { readonly kind: "count"; readonly line: number; readonly count: number; readonly of: CountedNoun }
  | (Decimal & { readonly kind: "percentage"; readonly of: Kind })
  | (Decimal & { readonly kind: "score" });

interface Decimal {
  readonly line: number;
  readonly value: number;
  readonly decimals: number;
}

/** Text with what else it claims taken out, its line ends kept. */
export function readNumbers(text: string): NumberClaim[] {
  return [...readCounts(text), ...readShares(text), ...readScores(text)];
}

const SEPARATORS = String.raw`,.\u00a0\u2009\u202f'’ `;
const WHOLE = String.raw`\d{1,3}(?:[${SEPARATORS}]\d{3})+(?!\d)|\d+`;
const DECIMAL = String.raw`\d{1,3}(?:[.,]\d{1,2})?(?![\d.,]*\d)`;
const PERCENT = String.raw`[*_]*\s*(?:%|percent\b|per cent\b)`;
const KIND = "(promoter|passive|detractor)s?";
/** Words between a number and its noun: two at most. */
const WORDS = String.raw`((?:[*_]*\p{L}[\p{L}'’-]*[*_]*\s+){0,2}?)`;
const BEFORE = String.raw`(?<![\d.,]|\d[${SEPARATORS}])`;

const COUNT = new RegExp(
  String.raw`${BEFORE}(${WHOLE})[*_]*\s+${WORDS}[*_]*(response|answer|promoter|passive|detractor)s?\b`,
  "giu",
);

/** Words that are no adjectives: of what follows them the number is none, or only a part, or a difference. */
const OTHER_WORDS =
  /\b(?:of|the|an?|in|on|at|to|from|by|for|with|without|and|or|but|than|as|is|are|was|were|be|that|which|who|whose|percent|per|cent|points?|more|fewer|less|additional|further|extra|out|hours?|days?|weeks?|months?|years?|minutes?|times|stars?)\b/iu;

function readCounts(text: string): NumberClaim[] {
  const lineOf = createLineCounter(text);
  return [...text.matchAll(COUNT)].flatMap(({ 1: number = "", 2: words = "", 3: noun = "", index }): NumberClaim[] => {
    const line = lineOf(index);
    if (OTHER_WORDS.test(words)) return [];
    const of = noun.toLowerCase() === "answer" ? "responses" : (`${noun.toLowerCase()}s` as CountedNoun);
    return [{ kind: "count", line, count: Number(number.replace(/\D/gu, "")), of }];
  });
}

const OF_ALL = String.raw`(?:of\s+(?:all\s+|the\s+|our\s+)?(?:responses|answers|respondents)\s+(?:are|were|is|was)\s+)?`;
const SHARE = new RegExp(String.raw`${BEFORE}(${DECIMAL})${PERCENT}[*_]*\s+${OF_ALL}${WORDS}[*_]*${KIND}\b`, "giu");
const ARE = "are|were|is|was|make up|made up|account for|accounted for|at|about|around|now";
/** A share that goes on with other words is that of something else: `detractors: 12 % mention prices`. */
const ENDS = String.raw`(?![ \t]+(?!(?:and|in|this|of\s+(?:all\s+|the\s+|our\s+)?(?:responses|answers|respondents))\b)\p{L})`;
/** `Promoters: 63 %`, `| Promoters | 32 | 63 % |`, `promoters made up 63 % of responses`. */
const SHARE_AFTER = new RegExp(
  String.raw`(?<!(?:%|percent|per cent)[*_]*\s{1,3})\b${KIND}\b[*_]*` +
    String.raw`(?:\s*[:=|(–—-]\s*(?:[\d.,]+\s*[|,(]\s*)?|\s+(?:(?:${ARE})\s+){0,3})[*_]*(${DECIMAL})${PERCENT}${ENDS}`,
  "giu",
);

function readShares(text: string): NumberClaim[] {
  const before = [...text.matchAll(SHARE)].flatMap(({ 1: number = "", 2: words = "", 3: noun = "", index }) =>
    OTHER_WORDS.test(words) ? [] : [{ number, noun, index }],
  );
  const after = [...text.matchAll(SHARE_AFTER)].map(({ 1: noun = "", 2: number = "", index }) => {
    return { number, noun, index };
  });
  const lineOf = createLineCounter(text);
  const found = [...before, ...after].toSorted((a, b) => a.index - b.index);
  return found.map(({ number, noun, index }): NumberClaim => {
    return { kind: "percentage", line: lineOf(index), ...toDecimal(number), of: `${noun.toLowerCase()}s` as Kind };
  });
}

const VERBS =
  "is|was|of|at|now|currently|stands|stood|came|rose|fell|increased|dropped|reached|remains|remained|to|about|score";
const SCORE = new RegExp(
  String.raw`\b(?:e?NPS|Net Promoter Score)\b(?:\s*\(NPS\))?[*_]*(?:\s*[:=|(]\s*|\s+(?:(?:${VERBS})\s+){0,3})` +
    String.raw`[*_]*([+−–-]?${DECIMAL})(?!\s*(?:%|…|\.\.\.|[–-]\s?\d)|[\s-]?(?:days?|weeks?|months?|years?|responses|answers)\b)`,
  "giu",
);
const SCORE_MAX = 100;

function readScores(text: string): NumberClaim[] {
  const lineOf = createLineCounter(text);
  return [...text.matchAll(SCORE)].flatMap(({ 1: number = "", index }): NumberClaim[] => {
    const decimal = toDecimal(number.replace(/^[−–]/u, "-"));
    return Math.abs(decimal.value) > SCORE_MAX ? [] : [{ kind: "score", line: lineOf(index), ...decimal }];
  });
}

function toDecimal(text: string): { readonly value: number; readonly decimals: number } {
  const [, digits = ""] = /[.,](\d+)$/u.exec(text) ?? [];
  return { value: Number(text.replace(",", ".")), decimals: digits.length };
}

/** The reason why a number is not that of the responses, in words that follow the claim; null where it is. */
export function numberFault(claim: NumberClaim, counts: Readonly<Record<CountedNoun, number>>): string | null {
  if (claim.kind === "count") return counts[claim.of] === claim.count ? null : `should be ${counts[claim.of]}`;
  const { promoters, passives, detractors } = counts;
  const score = netPromoterScore({ promoters, passives, detractors });
  if (score === null) return "has no responses to be true of";
  if (claim.kind === "score") return isRounded(score, claim) ? null : `should be ${shown(score, claim)}`;
  const share = (100 * counts[claim.of]) / (promoters + passives + detractors);
  return isRounded(share, claim) ? null : `should be ${shown(share, claim)} %`;
}

/** Halves may be rounded either way. */
function isRounded(actual: number, { value, decimals }: Decimal): boolean {
  return Math.abs(actual - value) <= 0.5 * 10 ** -decimals + 1e-9;
}

function shown(actual: number, { decimals }: Decimal): string {
  return String(Number(actual.toFixed(decimals)) || 0);
}

/** A summary of responses against the responses themselves: what it quotes, which answers it names, what it counts. */
import { type ScoreCategory } from "../contract/limits.ts";
import { type CountedNoun, type NumberClaim, numberFault, readNumbers } from "./claimed-numbers.ts";
import { MARK } from "./redact.ts";
import { endWithout } from "./search.ts";
import { createLineCounter } from "./text-lines.ts";

/** Something a summary says that the responses can confirm. Lines count from 1. */
export type SummaryClaim =
  | (Quoting & {
      readonly kind: "quotation";
      readonly text: string;
      /** The answers that each have to hold it; where none is named, one answer that does is enough. */
      readonly ids: readonly string[];
    })
  | (Quoting & { readonly kind: "id"; readonly id: string })
  | NumberClaim;

interface Quoting {
  readonly line: number;
  /** The meaning of a quote line's last brackets: where a comment says that, they name no answer. */
  readonly literal?: string;
}

interface Found {
  readonly claims: readonly SummaryClaim[];
  /** The text with what was found taken out, line by line. */
  readonly rest: string;
}

/**
 * Quotations are what is in double quotes within a paragraph, and each line of a Markdown quote; ids are in brackets,
 * alone or several with commas; numbers are those of `claimed-numbers`. Marks of redacted text are none of these.
 */
export function readClaims(summary: string): SummaryClaim[] {
  const lines = readQuoteLines(summary.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n"));
  const quoted = readQuotations(lines.rest);
  const claims = [...lines.claims, ...quoted.claims, ...readIds(quoted.rest), ...readNumbers(quoted.rest)];
  return claims.toSorted((a, b) => a.line - b.line);
}

/** Places of ids: `[12]`, `[12, 13]`. */
const BRACKET = /\[([^[\]]*)\]/gu;
/** `[x]: URL` at a line's start, which gives a link its address. */
const LINK_DEFINITION = /^:[ \t]*<?(?:[a-z][a-z\d+.-]{0,20}:\/\/|mailto:|www\.|\.{0,2}\/|#)/iu;

/** The ids in brackets: no footnote, no box to tick. An id has a digit in it; none where one of several is no id. */
function idsIn(bracket: string): string[] {
  const ids = bracket.split(/[,;]/u).map((part, index) => (index === 0 ? part : part.trimStart()).replace(/^#/u, ""));
  return ids.every((id) => /^[\w.:-]+$/u.test(id) && /\d/u.test(id)) ? ids : [];
}

function withoutMarks(text: string): string {
  return text.replace(MARK, (mark) => " ".repeat(mark.length));
}

const QUOTE_LINE = /^[ \t]{0,3}(?:[-*+][ \t]+|\d+[.)][ \t]+)?(?:>[ \t]?)+(.*)$/su;
const WHOLLY_QUOTED = /^[*_]*["“„«](.*)["”“»][*_]*[.,;]?$/su;

/** An id and what leads up to it, at the end of a quote line: `— [12]`, `([12])`. */
function trailingIds(content: string): { readonly start: number; readonly ids: readonly string[] } | null {
  const close = endWithout(content, content.length, /[\s).,;]/u) - 1;
  const open = content[close] === "]" ? content.lastIndexOf("[", close) : -1;
  const ids = open === -1 ? [] : idsIn(content.slice(open + 1, close));
  const isMark = withoutMarks(content.slice(open, close + 1)).trim() === "";
  return ids.length === 0 || isMark ? null : { start: endWithout(content, open, /[\s(–—-]/u), ids };
}

function readQuoteLines(summary: string): Found {
  const claims: SummaryClaim[] = [];
  const rest = summary.split("\n").map((text, index) => {
    const [, content] = QUOTE_LINE.exec(text) ?? [];
    if (content === undefined) return text;
    const { start, ids } = trailingIds(content) ?? { start: content.length, ids: [] };
    const said = content.slice(0, start).trim();
    const quotation = WHOLLY_QUOTED.exec(said)?.[1] ?? said;
    const line = index + 1;
    const literal = ids.length === 0 ? {} : { literal: content.trim() };
    if (quotation.trim() !== "") claims.push({ kind: "quotation", line, text: quotation, ids, ...literal });
    for (const id of ids) claims.push({ kind: "id", line, id, ...literal });
    return "";
  });
  return { claims, rest: rest.join("\n") };
}

/** Text that may lie between a quotation and the answer it is from. */
const FOLLOWING_IDS = /^[\s.,;:!?()*_–—-]{0,6}\[([^[\]]*)\]/u;

function readQuotations(text: string): Found {
  const claims: SummaryClaim[] = [];
  const lineOf = createLineCounter(text);
  const paragraphEnd = createParagraphEnds(text);
  let rest = "";
  let at = 0;
  for (let open = text.search(OPENING); open !== -1; open = indexFrom(text, OPENING, Math.max(open + 1, at))) {
    const close = closingOf(text, open, paragraphEnd(open));
    if (close === null) continue;
    const said = text.slice(open + 1, close);
    const following = withoutMarks(text.slice(close + 1, close + 1 + FOLLOWING_CHARS));
    const ids = idsIn(FOLLOWING_IDS.exec(following)?.[1] ?? "");
    if (said.trim() !== "") claims.push({ kind: "quotation", line: lineOf(open), text: said, ids });
    // Line ends stay, so that lines still count.
    rest += text.slice(at, open) + text.slice(open, close + 1).replace(/[^\n]/gu, " ");
    at = close + 1;
  }
  return { claims, rest: rest + text.slice(at) };
}

const OPENING = /["“„«»]/u;
const CLOSING: Readonly<Record<string, RegExp>> = { "“": /[”"]/u, "„": /[“”"]/u, "«": /»/u, "»": /«/u };
const WORD = /[\p{L}\p{N}]/u;

function indexFrom(text: string, pattern: RegExp, from: number): number {
  const found = text.slice(from).search(pattern);
  return found === -1 ? -1 : from + found;
}

/**
 * The end of a quotation that opens here. One that is never closed ends with its paragraph, where it claims too much
 * and is found out; null where nothing opens, as behind inches.
 */
function closingOf(text: string, open: number, paragraphEnd: number): number | null {
  const mark = text[open] ?? "";
  const [before, after] = [text[open - 1] ?? "", text[open + 1] ?? ""];
  if (mark === "»" && (/^\s?$/u.test(after) || WORD.test(before))) return null;
  if (mark !== '"') {
    const close = indexFrom(text.slice(0, paragraphEnd), CLOSING[mark] ?? OPENING, open + 1);
    return close === -1 ? paragraphEnd : close;
  }
  if (!/^\s?$/u.test(before) && !WORD.test(after) && !OPENS.test(before)) return null;
  // Within the quotation somebody may be quoted.
  let depth = 1;
  for (let close = text.indexOf('"', open + 1); close !== -1; close = text.indexOf('"', close + 1)) {
    if (close > paragraphEnd) break;
    const [isBehindWord, isBeforeWord] = [WORD.test(text[close - 1] ?? ""), WORD.test(text[close + 1] ?? "")];
    if (!isBeforeWord) depth -= 1;
    else if (!isBehindWord) depth += 1;
    if (depth === 0) return close;
  }
  return paragraphEnd;
}

/** Characters that a quotation may open behind, besides a space. */
const OPENS = /[([{*_:,;>–—/-]/u;

/** Room for a list of ids behind a quotation. */
const FOLLOWING_CHARS = 500;

/** Asked for places from first to last: where the paragraph of each ends. */
function createParagraphEnds(text: string): (at: number) => number {
  let end = -1;
  return (at) => {
    if (at <= end) return end;
    const found = indexFrom(text, /\n[ \t]*\n/u, at);
    end = found === -1 ? text.length : found;
    return end;
  };
}

function readIds(text: string): SummaryClaim[] {
  const plain = withoutMarks(text);
  const lineOf = createLineCounter(plain);
  return [...plain.matchAll(BRACKET)].flatMap(({ 0: found, 1: bracket = "", index }) => {
    const line = lineOf(index);
    if (isLinkDefinition(plain, index, index + found.length)) return [];
    return idsIn(bracket).map((id): SummaryClaim => ({ kind: "id", line, id }));
  });
}

function isLinkDefinition(text: string, start: number, end: number): boolean {
  const before = text.slice(Math.max(0, start - 4), start);
  return /(?:^|\n) {0,3}$/u.test(before) && LINK_DEFINITION.test(text.slice(end, end + 100));
}

/** A response as a summary may have seen it: its comment as it is, and as redacted or escaped text shows it. */
interface AnswerTexts {
  readonly id: string;
  readonly category: ScoreCategory | null;
  readonly texts: readonly string[];
}

export interface BrokenClaim {
  readonly claim: SummaryClaim;
  readonly why: string;
}

export interface ClaimCheck {
  add(answer: AnswerTexts): void;
  broken(): BrokenClaim[];
  readonly counts: Readonly<Record<CountedNoun, number>>;
}

const NOUNS = { promoter: "promoters", passive: "passives", detractor: "detractors" } as const;

export function createClaimCheck(claims: readonly SummaryClaim[]): ClaimCheck {
  const wantedIds = new Set(
    claims.flatMap((claim) => (claim.kind === "id" ? [claim.id] : claim.kind === "quotation" ? claim.ids : [])),
  );
  const knownIds = new Set<string>();
  const literals = new Set(claims.flatMap((claim) => ("literal" in claim ? [claim.literal ?? ""] : [])));
  const saidLiterally = new Set<string>();
  const counts = { responses: 0, promoters: 0, passives: 0, detractors: 0 };
  const quotations = claims
    .filter((claim) => claim.kind === "quotation")
    .map((claim) => ({ claim, forms: quotedForms(claim.text), isFound: false, saidBy: new Set<string>() }));
  return {
    counts,
    add({ id, category, texts }) {
      counts.responses += 1;
      if (category !== null) counts[NOUNS[category]] += 1;
      if (wantedIds.has(id)) knownIds.add(id);
      const said = texts.map(comparable).filter((text) => text !== "");
      for (const literal of literals)
        if (said.some((text) => text.includes(comparable(literal)))) saidLiterally.add(literal);
      for (const quotation of quotations) {
        const isWanted =
          quotation.claim.ids.length === 0
            ? !quotation.isFound
            : quotation.claim.ids.includes(id) || !quotation.isFound;
        if (!isWanted || !quotation.forms.some((form) => said.some((text) => text.includes(form)))) continue;
        quotation.isFound = true;
        if (quotation.claim.ids.includes(id)) quotation.saidBy.add(id);
      }
    },
    broken: () =>
      [
        ...quotations.flatMap(({ claim, isFound, saidBy }) => brokenQuotation(claim, isFound, saidBy)),
        ...claims.flatMap((claim) => brokenFact(claim, knownIds, counts)),
      ]
        .filter(({ claim }) => !("literal" in claim && saidLiterally.has(claim.literal ?? "")))
        .toSorted((a, b) => a.claim.line - b.claim.line),
  };
}

function brokenQuotation(
  claim: SummaryClaim & { readonly kind: "quotation" },
  isFound: boolean,
  saidBy: ReadonlySet<string>,
): BrokenClaim[] {
  if (!isFound) return [{ claim, why: "is in no comment" }];
  const others = claim.ids.filter((id) => !saidBy.has(id));
  return others.length === 0 ? [] : [{ claim, why: `is not in ${others.map((id) => `[${id}]`).join(", ")}` }];
}

function brokenFact(
  claim: SummaryClaim,
  known: ReadonlySet<string>,
  counts: Readonly<Record<CountedNoun, number>>,
): BrokenClaim[] {
  if (claim.kind === "id" && !known.has(claim.id)) return [{ claim, why: "is the id of no response" }];
  if (claim.kind === "id" || claim.kind === "quotation") return [];
  const why = numberFault(claim, counts);
  return why === null ? [] : [{ claim, why }];
}

/** The quotation, and the same without the comma or full stop that American typesetting puts inside. */
function quotedForms(text: string): string[] {
  const form = comparable(text);
  const bare = form.replace(/[.,]$/u, "").trimEnd();
  return bare === "" || bare === form ? [form] : [form, bare];
}

/** White space, kinds of quotes, apostrophes and dashes, and the numbers of marks make no difference. */
function comparable(text: string): string {
  return text
    .normalize("NFC")
    .replace(MARK, "[$1]")
    .replace(/[“”„«»]/gu, '"')
    .replace(/[‘’‚‛`´]/gu, "'")
    .replace(/[‐‑‒–—―]/gu, "-")
    .replaceAll("…", "...")
    .replace(/[\s\u200b\ufeff]+/gu, " ")
    .trim();
}

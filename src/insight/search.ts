/** Only Latin, Greek and Cyrillic marks; in other scripts, marks are letters. */
const ACCENTS = /[\u0300-\u036f]+/g;
const PLAIN = /^\p{ASCII}*$/u;

export function foldAccents(text: string): string {
  return PLAIN.test(text) ? text : text.normalize("NFD").replace(ACCENTS, "").normalize("NFC");
}

export interface Span {
  readonly start: number;
  readonly end: number;
}

/** Trims matching characters from the end. A pattern ending in `$` would be tried at every position. */
export function endWithout(text: string, from: number, kind: RegExp): number {
  let end = from;
  while (end > 0 && kind.test(text[end - 1] ?? "")) end -= 1;
  return end;
}

export interface FoldedText {
  readonly text: string;
  originalSpan(start: number, end: number): Span;
}

const CLUSTER = /\P{M}\p{M}*|\p{M}+/gsu;

export function foldWithPlaces(original: string): FoldedText {
  if (PLAIN.test(original)) return { text: original, originalSpan: (start, end) => ({ start, end }) };
  return foldEach(original, CLUSTER, foldAccents);
}

export function foldEach(original: string, pattern: RegExp, fold: (piece: string) => string): FoldedText {
  const parts: string[] = [];
  const starts: number[] = [];
  for (const { 0: piece, index } of original.matchAll(pattern)) {
    const folded = fold(piece);
    for (let unit = 0; unit < folded.length; unit += 1) starts.push(index);
    parts.push(folded);
  }
  return {
    text: parts.join(""),
    originalSpan: (start, end) => ({
      start: starts[start] ?? original.length,
      // Extends to the next character, so that a letter keeps its marks.
      end: nextStart(starts, end) ?? original.length,
    }),
  };
}

function nextStart(starts: readonly number[], place: number): number | undefined {
  let next = place;
  while (next < starts.length && (starts[next] ?? 0) <= (starts[place - 1] ?? 0)) next += 1;
  return starts[next];
}

export interface TextSearch {
  matches(text: string): boolean;
  matchEach(texts: readonly string[]): boolean[];
  spans(text: string): readonly Span[];
}

export function createTextSearch(pattern: string): TextSearch {
  const source = foldAccents(pattern);
  const once = new RegExp(source, "iu");
  const every = new RegExp(source, "giu");
  const matches = (text: string): boolean => once.test(foldAccents(text));
  return {
    matches,
    matchEach: (texts) => texts.map(matches),
    spans(text) {
      const folded = foldWithPlaces(text);
      return [...folded.text.matchAll(every)]
        .filter(({ 0: found }) => found !== "")
        .map(({ 0: found, index }) => folded.originalSpan(index, index + found.length));
    },
  };
}

/** Text compared without regard to accents: `é` is found by `e`, and the other way round. */

/** Marks that the Latin, Greek and Cyrillic scripts put on letters; signs of other scripts are letters of their own. */
const ACCENTS = /[\u0300-\u036f]+/g;
const PLAIN = /^\p{ASCII}*$/u;

export function foldAccents(text: string): string {
  return PLAIN.test(text) ? text : text.normalize("NFD").replace(ACCENTS, "").normalize("NFC");
}

/** A span of text, from `start` up to and without `end`, in UTF-16 units. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** The end of what precedes the last characters of a kind. A pattern that ends in `$` would try each of them anew. */
export function endWithout(text: string, from: number, kind: RegExp): number {
  let end = from;
  while (end > 0 && kind.test(text[end - 1] ?? "")) end -= 1;
  return end;
}

/** A text in another form that knows where each of its characters came from. */
export interface FoldedText {
  readonly text: string;
  spanOf(start: number, end: number): Span;
}

/** A letter and its marks fold together. */
const CLUSTER = /\P{M}\p{M}*|\p{M}+/gsu;

export function foldWithPlaces(original: string): FoldedText {
  if (PLAIN.test(original)) return { text: original, spanOf: (start, end) => ({ start, end }) };
  return foldEach(original, CLUSTER, foldAccents);
}

/** `pattern` matches the pieces that fold together, all of the text in all. */
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
    spanOf: (start, end) => ({
      start: starts[start] ?? original.length,
      // Up to where the next character begins, so that a letter's marks stay with it.
      end: nextStart(starts, end) ?? original.length,
    }),
  };
}

/** The start of the first character that comes after the one before `place`. */
function nextStart(starts: readonly number[], place: number): number | undefined {
  let next = place;
  while (next < starts.length && (starts[next] ?? 0) <= (starts[place - 1] ?? 0)) next += 1;
  return starts[next];
}

/** A search that folds case and accents. Throws SyntaxError for a pattern that is not a regular expression. */
export interface TextSearch {
  matches(text: string): boolean;
  matchEach(texts: readonly string[]): boolean[];
  /** Every span that matches, in order; empty ones are left out. */
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
        .map(({ 0: found, index }) => folded.spanOf(index, index + found.length));
    },
  };
}

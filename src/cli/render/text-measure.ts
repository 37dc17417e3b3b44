/** Measures, truncates and wraps text by terminal cells and graphemes, so that emoji stay whole. */
import stringWidth from "string-width";

export interface FittedText {
  readonly text: string;
  readonly width: number;
}

const PLAIN = /^[\u0020-\u007e]*$/;

const SEGMENTER = new Intl.Segmenter("en", { granularity: "grapheme" });

function graphemes(text: string): string[] {
  return PLAIN.test(text) ? text.split("") : Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

function width(text: string): number {
  return PLAIN.test(text) ? text.length : stringWidth(text);
}

function takeWidth(text: string, max: number): string {
  let taken = 0;
  const parts = graphemes(text);
  const end = parts.findIndex((grapheme) => (taken += width(grapheme)) > max);
  return parts.slice(0, end === -1 ? undefined : end).join("");
}

function chunksOf(word: string, max: number): string[] {
  const parts = [""];
  let taken = 0;
  for (const grapheme of graphemes(word)) {
    const cells = width(grapheme);
    const isFull = taken > 0 && taken + cells > max;
    taken = isFull ? cells : taken + cells;
    if (isFull) parts.push(grapheme);
    else parts.push((parts.pop() ?? "") + grapheme);
  }
  return parts;
}

function wrap(text: string, max: number, breakWords: boolean = true): string[] {
  if (width(text) <= max) return [text];
  const [first = "", ...words] = text.split(" ").flatMap((word) => (breakWords ? chunksOf(word, max) : [word]));
  const lines = [first];
  for (const word of words) {
    const joined = `${lines.at(-1) ?? ""} ${word}`;
    if (width(joined) <= max) lines.splice(-1, 1, joined);
    else lines.push(word);
  }
  return lines;
}

export function createTextMeasure(unicode: boolean = true) {
  const mark = unicode ? "…" : "...";
  const cut = (text: string, max: number): string => {
    if (width(text) <= max) return text;
    return max < mark.length ? mark.slice(0, max) : takeWidth(text, max - mark.length) + mark;
  };
  /** Isolates right-to-left text from its neighbors. */
  const fit = (text: string, max: number, paint: (text: string) => string = String): FittedText => {
    const short = cut(text, max);
    return { text: paint(isolate(short)), width: width(short) };
  };
  return { width, cut, wrap, fit };
}

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

function isolate(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

/** How many terminal cells text takes, and cutting it to fit: by grapheme, so that no emoji or accent is torn. */
export interface TextMeasure {
  width(text: string): number;
  /** The text itself when it fits in `max` cells, else its beginning and `…`. */
  cut(text: string, max: number): string;
  /** Cut to `width` cells and filled up with spaces on the side away from `align`; `paint` colours the text alone. */
  fit(text: string, width: number, align: "left" | "right", paint?: (text: string) => string): string;
}

const PLAIN = /^[\u0020-\u007e]*$/;

/** The segmenter is costly to make and only needed for text beyond ASCII. */
export function createTextMeasure(): TextMeasure {
  let segmenter: Intl.Segmenter | null = null;
  const graphemes = (text: string): string[] => {
    segmenter ??= new Intl.Segmenter("en", { granularity: "grapheme" });
    return Array.from(segmenter.segment(text), ({ segment }) => segment);
  };
  const width = (text: string): number =>
    PLAIN.test(text) ? text.length : graphemes(text).reduce((sum, grapheme) => sum + graphemeWidth(grapheme), 0);
  const cut = (text: string, max: number): string => {
    if (width(text) <= max) return text;
    return PLAIN.test(text) ? `${text.slice(0, Math.max(max - 1, 0))}…` : `${takeWidth(graphemes(text), max - 1)}…`;
  };
  const fit: TextMeasure["fit"] = (text, room, align, paint = String) => {
    const short = cut(text, room);
    const filling = " ".repeat(Math.max(room - width(short), 0));
    const painted = paint(isolate(short));
    return align === "left" ? painted + filling : filling + painted;
  };
  return { width, cut, fit };
}

function takeWidth(graphemes: readonly string[], max: number): string {
  let taken = 0;
  const end = graphemes.findIndex((grapheme) => {
    taken += graphemeWidth(grapheme);
    return taken > max;
  });
  return graphemes.slice(0, end === -1 ? undefined : end).join("");
}

function graphemeWidth(grapheme: string): number {
  if (isEmoji(grapheme)) return 2;
  let width = 0;
  for (const char of grapheme) width += charWidth(char);
  return width;
}

function isEmoji(grapheme: string): boolean {
  return /\p{Emoji_Presentation}|\p{Regional_Indicator}{2}/u.test(grapheme) || /\p{Emoji}\ufe0f/u.test(grapheme);
}

/** Marks, format characters and the vowels and finals of decomposed Hangul stand on their neighbour. */
const ZERO = /[\p{Mn}\p{Me}\p{Cf}\p{Cc}\u1160-\u11ff\ud7b0-\ud7ff]/u;
/** East Asian Wide and Fullwidth (Unicode, Annex 11), emoji apart. */
const WIDE =
  /[\u1100-\u115f\u2329\u232a\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97c\uac00-\ud7a3\uf900-\ufaff\ufe10-\ufe19\ufe30-\ufe6b\uff01-\uff60\uffe0-\uffe6\u{16fe0}-\u{18dff}\u{1aff0}-\u{1b2ff}\u{1f200}-\u{1f265}\u{20000}-\u{3fffd}]/u;

function charWidth(char: string): number {
  if (ZERO.test(char)) return 0;
  return WIDE.test(char) ? 2 : 1;
}

const RIGHT_TO_LEFT = /[\p{Script=Hebrew}\p{Script=Arabic}\p{Script=Syriac}\p{Script=Thaana}\p{Script=Nko}]/u;

/** Keeps right-to-left text from pulling the neighbouring columns around: first strong isolate … pop. */
function isolate(text: string): string {
  return RIGHT_TO_LEFT.test(text) ? `\u2068${text}\u2069` : text;
}

const INVISIBLE = /[\p{Cf}\p{Me}\uFE00-\uFE0F]/gu;
/** Latin, Greek and Cyrillic accents, and Arabic diacritics. */
const ACCENTS = /[\u0300-\u036F\u0640\u064B-\u0655]/g;
const EMOJI_LETTERS = /[\u{1F150}-\u{1F169}\u{1F170}-\u{1F189}\u{1F1E6}-\u{1F1FF}]/gu;
/** Cyrillic and Greek letters that look like Latin ones. */
const [LOOK_ALIKES, LATIN] = ["авсеіјкморѕтухαεικορτυχ", "abceijkmopstyxaeikoptyx"];

/** Normalizes a text for comparisons: without case, accents, punctuation, look-alikes and extra spaces. */
export function fold(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(INVISIBLE, "")
    .replaceAll(ACCENTS, "")
    .replaceAll(EMOJI_LETTERS, (emoji) => plainLetter(emoji.codePointAt(0) ?? 0))
    .toLowerCase()
    .normalize("NFC")
    .replaceAll(/[а-ѕα-ω]/g, (letter) => LATIN[LOOK_ALIKES.indexOf(letter)] ?? letter)
    .replaceAll(/(?<=\p{L})0|0(?=\p{L})/gu, "o")
    .split(/[^\p{L}\p{M}\p{N}]+/u)
    .filter((word) => word !== "")
    .join(" ");
}

function plainLetter(code: number): string {
  return String.fromCodePoint(0x61 + (code < 0x1f1e6 ? (code - 0x1f150) % 32 : code - 0x1f1e6));
}

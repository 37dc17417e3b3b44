/** Limits from section 8 of the specification, unless a comment says otherwise. */
export const PER_PAGE_DEFAULT = 20;
export const PER_PAGE_MAX = 100;
export const PAGE_DEFAULT = 1;
export const CONCURRENCY_DEFAULT = 8;
export const SCORE_MIN = 0;
export const SCORE_MAX = 10;
export const EMAIL_SUBJECT_MAX = 150;
export const INTRO_MESSAGE_MAX = 300;
/** Maximum characters of a name or tag. This and the following limits are this server's own. */
export const NAME_MAX = 255;
export const FOOTER_MAX = 500;
export const QUESTION_MAX = 200;
export const SENDER_NAME_MAX = 100;
export const TAGS_MAX = 100;
export const TEXT_BYTES_MAX = 64 * 1024;
/** Maximum UTF-8 bytes of properties as JSON. */
export const PROPERTIES_BYTES_MAX = 64 * 1024;
/** Maximum UTF-8 bytes of a response's additional answers as JSON; more than a page's form can send. */
export const ANSWERS_BYTES_MAX = 128 * 1024;
/** Maximum UTF-16 units of all notes on a response, as JSON. */
export const NOTES_LENGTH_MAX = 256 * 1024;
/** Minimum characters of an API key, so that it can't be guessed. */
export const KEY_LENGTH_MIN = 20;
/** Highest id accepted from another server, which leaves enough safe integers above it. */
export const FOREIGN_ID_MAX = 2 ** 52;
/** A property with more values (an address, an id) isn't a segment. */
export const SEGMENT_VALUES_MAX = 50;
export const DURATION_MAX = 100 * 365 * 86_400;
/** End of the year 9999 in Unix seconds; larger numbers are milliseconds. */
export const TIME_MAX = 253_402_300_799;

export type ScoreCategory = "promoter" | "passive" | "detractor";

export function scoreCategory(score: number): ScoreCategory {
  if (score >= 9) return "promoter";
  return score >= 7 ? "passive" : "detractor";
}

/** Counts code points, as the specification does. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Whether a page that came twice is the whole list, because the server ignores `page`. */
export function isWholeList(rows: number, perPage: number): boolean {
  return rows < Math.min(perPage, PER_PAGE_DEFAULT);
}

/** Numbers of the specification, section 8 and where named. */
export const PER_PAGE_DEFAULT = 20;
export const PER_PAGE_MAX = 100;
export const PAGE_DEFAULT = 1;
export const SCORE_MIN = 0;
export const SCORE_MAX = 10;
/** Characters (Unicode code points), section 2 "Special properties". */
export const EMAIL_SUBJECT_MAX = 150;
/** Characters (Unicode code points), section 2 "Special properties". */
export const INTRO_MESSAGE_MAX = 300;
/** Characters (Unicode code points) of a person's name and of a tag; the service's own. */
export const NAME_MAX = 255;
/** Characters (Unicode code points) of the lines below each survey e-mail; the service's own. */
export const FOOTER_MAX = 500;
/** Characters (Unicode code points) of the name that surveys come from; the service's own. */
export const SENDER_NAME_MAX = 100;
/** Tags of one response; the service's own. */
export const TAGS_MAX = 100;
/** UTF-8 bytes of a comment or a note; the service's own. */
export const TEXT_BYTES_MAX = 64 * 1024;
/** UTF-8 bytes of a map of properties as JSON; the service's own. */
export const PROPERTIES_BYTES_MAX = 64 * 1024;
/** UTF-8 bytes of a response's additional answers as JSON: more than a page's form can bring; the service's own. */
export const ANSWERS_BYTES_MAX = 128 * 1024;
/** UTF-16 units of all notes of a response as JSON; the service's own. */
export const NOTES_LENGTH_MAX = 256 * 1024;
/** Characters of an API key that nobody finds by trying; the service's own. */
export const KEY_LENGTH_MIN = 20;
/** Of an id taken over from another service: as many that can be told apart are left above it; the service's own. */
export const FOREIGN_ID_MAX = 2 ** 52;
/** More values of a property than this are no segments: an address, an id, an order number. */
export const SEGMENT_VALUES_MAX = 50;
/** Seconds, 100 years, of the longest frequency of Autopilot and the longest life of a key; the service's own. */
export const DURATION_MAX = 100 * 365 * 86_400;
/** Unix seconds at the end of the year 9999: what lies beyond is milliseconds. */
export const TIME_MAX = 253_402_300_799;

/** Scores from 9 are promoters, from 7 passives, below that detractors. */
export type ScoreCategory = "promoter" | "passive" | "detractor";

/** `score` is whole, 0 to 10. */
export function scoreCategory(score: number): ScoreCategory {
  if (score >= 9) return "promoter";
  return score >= 7 ? "passive" : "detractor";
}

/** Length in characters as people count them in the specification: code points, not UTF-16 units. */
export function characterCount(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/**
 * True for a page that repeats the one before and is a whole list, sent by a service that does not number its pages: no
 * page of which more follow is so short (section 4). A longer one may be any page, and its list cannot be read.
 */
export function isWholeList(rows: number, perPage: number): boolean {
  return rows < Math.min(perPage, PER_PAGE_DEFAULT);
}

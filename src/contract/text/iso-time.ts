/** The furthest second from the epoch that a calendar date can be given for. */
export const FURTHEST_SECOND = 8.64e12;

/** Unix seconds as `2026-01-31T09:30:00Z`, always UTC; what no calendar holds as the number it is. */
export function toIsoTime(seconds: number): string {
  if (Math.abs(seconds) > FURTHEST_SECOND) return String(seconds);
  const text = new Date(seconds * 1000).toISOString();
  return text.endsWith(".000Z") ? `${text.slice(0, -".000Z".length)}Z` : text;
}

/** What the `Retry-After` header asks for. */

/** RFC 9110's three date forms all carry the month's English name; anything that `Date.parse` takes beside them is no date here. */
const HTTP_DATE = /^[A-Za-z]+,? .*\b(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)\b/;

/**
 * Milliseconds to wait, 0 for a time in the past; null when the header is absent or makes no sense (negative, words).
 * A date counts from the answer's own `Date` where there is one, so that a wrong clock here does no harm.
 */
export function readRetryAfter(headers: Readonly<Record<string, string>>, nowMs: number): number | null {
  const text = headers["retry-after"]?.trim() ?? "";
  if (/^\d+(?:\.\d+)?$/.test(text)) return Number(text) * 1000;
  if (!HTTP_DATE.test(text)) return null;
  // The oldest form names no zone and means GMT all the same.
  const until = Date.parse(/(?:GMT|UTC|[+-]\d{4})$/.test(text) ? text : `${text} GMT`);
  if (Number.isNaN(until)) return null;
  return Math.max(0, until - (readDate(headers) ?? nowMs));
}

/** The service's clock (`Date` header) in milliseconds since the epoch; null when absent or unreadable. */
export function readDate(headers: Readonly<Record<string, string>>): number | null {
  const at = Date.parse(headers["date"] ?? "");
  return Number.isNaN(at) ? null : at;
}

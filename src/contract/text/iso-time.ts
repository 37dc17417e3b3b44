export const FURTHEST_SECOND = 8.64e12;

export function toIsoTime(seconds: number): string {
  if (Math.abs(seconds) > FURTHEST_SECOND) return String(seconds);
  const text = new Date(seconds * 1000).toISOString();
  return text.endsWith(".000Z") ? `${text.slice(0, -".000Z".length)}Z` : text;
}

const ID = /^[1-9]\d{0,15}$/;

/** An id from outside as the store counts it; null when no row can have it. */
export function parseId(text: string): number | null {
  if (!ID.test(text)) return null;
  const id = Number(text);
  return Number.isSafeInteger(id) ? id : null;
}

/** So many rows a list may shift by while it is read. */
export const REMEMBERED_ROWS = 10_000;

/** Remembers the last ids that it was asked about: rows that a shifting list shows twice stand close together. */
export interface RecentIds {
  /** Whether the id is new; it is remembered from then on, for at least `capacity` more ids. */
  isNew(id: string): boolean;
}

/** `first` are ids that count as seen. */
export function createRecentIds(capacity: number, first: Iterable<string> = []): RecentIds {
  // Two sets instead of one from which the oldest are deleted: a set that is emptied from its front becomes slow.
  let older = new Set<string>();
  let newer = new Set<string>(first);
  return {
    isNew(id) {
      if (newer.has(id) || older.has(id)) return false;
      newer.add(id);
      if (newer.size >= capacity) [older, newer] = [newer, new Set()];
      return true;
    },
  };
}

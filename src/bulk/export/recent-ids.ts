/** Remembers the last ids that it was asked about: rows that a shifting list shows twice stand close together. */
export interface RecentIds {
  /** Whether the id is new; it is remembered from then on. */
  isNew(id: string): boolean;
}

export function createRecentIds(capacity: number, first: Iterable<string> = []): RecentIds {
  const ids = new Set<string>(first);
  return {
    isNew(id) {
      if (ids.has(id)) return false;
      ids.add(id);
      if (ids.size > capacity) forgetOldest(ids);
      return true;
    },
  };
}

/** A set iterates in the order of insertion. */
function forgetOldest(ids: Set<string>): void {
  for (const oldest of ids) {
    ids.delete(oldest);
    return;
  }
}

/** The moment that an export shows: what the service's clock said when the run began. */
import type { FetchedPage, Range, RowKeys } from "../../../bulk/export/lists.ts";
import { unixSeconds, type Clock } from "../../../runtime/clock.ts";

/** A bound that no row's time reaches. */
const FAR_FUTURE = 9_999_999_999;
const DAY_SECONDS = 86_400;

export interface Snapshot {
  /** Asked with the first page. */
  readonly fixUntil: (first: FetchedPage) => Promise<number>;
  /** The service's time at the start, Unix seconds; ours when it tells none. Known after `fixUntil`. */
  readonly startedAt: () => number;
}

/**
 * `newest` is the newest row's time: rows may bear a time that has not come yet, and those were there too.
 * The user's own `until` counts when it is earlier.
 */
export function createSnapshot(
  { keys, range }: { readonly keys: RowKeys; readonly range: Range },
  newest: Promise<number | null>,
  clock: Clock,
): Snapshot {
  let startedAt = unixSeconds(clock);
  return {
    async fixUntil(first) {
      startedAt = first.serverTime ?? startedAt;
      // Without the service's clock nobody knows how far ours is off.
      const now = first.serverTime ?? startedAt + DAY_SECONDS;
      const ahead = first.rows.some((row) => (keys.at(row) ?? 0) > now);
      const until = ahead ? FAR_FUTURE : Math.max(now, (await newest) ?? 0);
      return Math.min(range.until ?? FAR_FUTURE, until);
    },
    startedAt: () => startedAt,
  };
}

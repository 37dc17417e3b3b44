/** The moment that an export shows: the service's time when the run began, and its count of the rows. */
import type { CursorList, FetchedPage, PageList, Range, RowKeys } from "../../bulk/export/lists.ts";
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import type { Progress } from "../command/progress.ts";
import type { Increment, OpenedExport } from "./increment.ts";

/** A bound that no row's time reaches. */
const FAR_FUTURE = 9_999_999_999;
/** Rows that arrive during these requests have times up to here, and are not part of the snapshot. */
const ARRIVING_SECONDS = 60;

export interface SnapshotOptions {
  readonly list: PageList | CursorList;
  readonly keys: RowKeys;
  readonly range: Range;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface Snapshot {
  /** Asked with the first page. */
  readonly fixUntil: (first: FetchedPage, isWhole: boolean) => Promise<number>;
  /** The service's time at the start, Unix seconds; ours when it sends none. Known after `fixUntil`. */
  readonly startedAt: () => number;
}

/**
 * Rows may have a time in the future, and were there too: unless the first page is the complete list, one
 * more request asks for them. The user's own `until` counts when it is earlier.
 */
export function createSnapshot(options: SnapshotOptions): Snapshot {
  const { keys, range } = options;
  let startedAt = unixSeconds(options.clock);
  return {
    async fixUntil(first, isWhole) {
      startedAt = first.serverTime ?? startedAt;
      // Without the service's clock the error of ours is unknown.
      const now = first.serverTime ?? startedAt + DAY_SECONDS;
      const last = range.until ?? FAR_FUTURE;
      if (last <= now) return last;
      const isLate = first.rows.some((row) => (keys.at(row) ?? 0) > now);
      if (isLate) return last;
      return isWhole ? now : Math.min(last, await lastAfter(options, now));
    },
    startedAt: () => startedAt,
  };
}

/** The last time of a row after `now`; `now` when there are none, or when the service does not answer. */
async function lastAfter({ list, keys, range, signal }: SnapshotOptions, now: number): Promise<number> {
  if (list.kind === "cursor" && !list.hasTimes) return now;
  let latest = now;
  try {
    for (let since = now + ARRIVING_SECONDS; ; since = latest + 1) {
      const rest = { since, until: range.until };
      const page = await (list.kind === "page" ? list.fetch({ ...rest, page: 1 }, signal) : list.open(rest, signal));
      const last = Math.max(...page.rows.map((row) => keys.at(row) ?? 0));
      // Empty, or from a service that ignores times.
      if (last < since) return latest;
      latest = last;
    }
  } catch {
    // Not essential: a service that refuses such a time has no such rows.
    return latest;
  }
}

export interface Background {
  readonly progress: Progress;
  readonly ended: AbortSignal;
}

/** The service's own count of what it counts of the rows that are exported, asked for while they are read. */
export interface Count {
  begin(until: number): void;
  /** The service's count at the start, and where `rows` differ, its count now; null when it does not answer. */
  result(rows: number): Promise<CountRange | null>;
}

/** The fewest and the most rows that were there while the export ran. */
export interface CountRange {
  readonly least: number;
  readonly most: number;
}

export function createCount(
  { request, connection }: OpenedExport,
  { isWhole, source }: Increment,
  { progress, ended }: Background,
): Count {
  let ask: (() => Promise<number | null>) | null = null;
  let asked: Promise<number | null> = Promise.resolve(null);
  return {
    begin(until) {
      const { since } = source.range;
      const { count } = request;
      if (!isWhole || count === null) return;
      const again = (): Promise<number | null> => orNull(count.ask(connection.client, { since, until }, ended));
      ask = again;
      asked = again().then((rows) => {
        if (rows !== null) progress.expect(rows);
        return rows;
      });
    },
    async result(rows) {
      const before = await asked;
      if (before === null) return null;
      const now = before === rows ? before : ((await ask?.()) ?? before);
      return { least: Math.min(before, now), most: Math.max(before, now) };
    },
  };
}

/** The count is not essential: it must not fail the export. */
async function orNull(work: Promise<number | null> | undefined): Promise<number | null> {
  try {
    return (await work) ?? null;
  } catch {
    return null;
  }
}

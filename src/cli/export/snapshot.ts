import type { CursorList, FetchedPage, PageList, Range, RowKeys } from "../../bulk/export/lists.ts";
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import type { Progress } from "../kit/progress.ts";
import { nullIfFailed } from "../kit/refusals.ts";
import type { Increment, OpenedExport } from "./increment.ts";

const FAR_FUTURE = 9_999_999_999;
/** Rows that arrive meanwhile aren't later than this. */
const ARRIVING_SECONDS = 60;

export interface SnapshotOptions {
  readonly list: PageList | CursorList;
  readonly keys: RowKeys;
  readonly range: Range;
  readonly clock: Clock;
  readonly signal: AbortSignal;
}

export interface Snapshot {
  readonly fixUntil: (first: FetchedPage, isWhole: boolean) => Promise<number>;
  /** Unix seconds by the service's clock, or ours. Known after `fixUntil`. */
  readonly startedAt: () => number;
}

/** Rows can have future times, so one more request looks for them unless the first page is the whole list. */
export function createSnapshot(options: SnapshotOptions): Snapshot {
  const { keys, range } = options;
  let startedAt = unixSeconds(options.clock);
  return {
    async fixUntil(first, isWhole) {
      startedAt = first.serverTime ?? startedAt;
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

/** The latest time of a row after `now`; `now` if there is none. */
async function lastAfter({ list, keys, range, signal }: SnapshotOptions, now: number): Promise<number> {
  if (list.kind === "cursor" && !list.hasTimes) return now;
  let latest = now;
  try {
    for (let since = now + ARRIVING_SECONDS; ; since = latest + 1) {
      const rest = { since, until: range.until };
      const page = await (list.kind === "page" ? list.fetch({ ...rest, page: 1 }, signal) : list.open(rest, signal));
      const last = Math.max(...page.rows.map((row) => keys.at(row) ?? 0));
      if (last < since) return latest;
      latest = last;
    }
  } catch {
    // A service that rejects the time has no such rows.
    return latest;
  }
}

export interface Background {
  readonly progress: Progress;
  readonly ended: AbortSignal;
}

/** The service's count of the exported rows, requested in parallel. */
export interface Count {
  begin(until: number): void;
  /** Counts again if `rows` differ. Null without a response. */
  result(rows: number): Promise<CountRange | null>;
}

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
      const again = (): Promise<number | null> => nullIfFailed(count.ask(connection.client, { since, until }, ended));
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

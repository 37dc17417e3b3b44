import type { FetchedPage, PagedList } from "../../bulk/export/lists.ts";
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import type { Progress } from "../kit/progress.ts";
import { nullIfFailed } from "../kit/refusals.ts";
import type { Increment, OpenedExport } from "./increment.ts";
import type { ExportSource } from "./request.ts";

const FAR_FUTURE = 9_999_999_999;
/** Rows that arrive during the export are dated at most this long after its start. */
const ARRIVING_SECONDS = 60;

/** Rows can be dated in the future, so `fixUntil` looks for later ones unless the first page is the whole list. */
export function createSnapshot(
  list: PagedList,
  { keys, range }: Pick<ExportSource, "keys" | "range">,
  clock: Clock,
  signal: AbortSignal,
) {
  let startedAt = unixSeconds(clock);
  return {
    fixUntil: async (first: FetchedPage, isWhole: boolean): Promise<number> => {
      startedAt = first.serverTime ?? startedAt;
      const now = first.serverTime ?? startedAt + DAY_SECONDS;
      const last = range.until ?? FAR_FUTURE;
      if (last <= now) return last;
      const isLate = first.rows.some((row) => (keys.at(row) ?? 0) > now);
      if (isLate) return last;
      return isWhole ? now : Math.min(last, await lastAfter(list, { keys, range }, now, signal));
    },
    /** Unix seconds, by the service's clock after `fixUntil`, otherwise by ours. */
    startedAt: (): number => startedAt,
  };
}

async function lastAfter(
  list: PagedList,
  { keys, range }: Pick<ExportSource, "keys" | "range">,
  now: number,
  signal: AbortSignal,
): Promise<number> {
  if (!list.hasTimes) return now;
  let latest = now;
  try {
    for (let since = now + ARRIVING_SECONDS; ; since = latest + 1) {
      const page = await list.fetch({ since, until: range.until, page: null }, signal);
      const last = Math.max(...page.rows.map((row) => keys.at(row) ?? 0));
      if (last < since) return latest;
      latest = last;
    }
  } catch {
    // A service that rejects a future `since` has no rows after it.
    return latest;
  }
}

export interface CountRange {
  readonly least: number;
  readonly most: number;
}

export type Count = ReturnType<typeof createCount>;

export function createCount(
  { request, connection }: OpenedExport,
  { isWhole, source }: Increment,
  progress: Progress,
  signal: AbortSignal,
) {
  let ask: (() => Promise<number | null>) | null = null;
  let asked: Promise<number | null> = Promise.resolve(null);
  return {
    begin(until: number): void {
      const { since } = source.range;
      const { count } = request;
      if (!isWhole || count === null) return;
      const again = (): Promise<number | null> => nullIfFailed(count.ask(connection.client, { since, until }, signal));
      ask = again;
      asked = again().then((rows) => {
        if (rows !== null) progress.expect(rows);
        return rows;
      });
    },
    /** Asks the service again if its earlier count differs from `rows`. Null if the service gave no count. */
    async result(rows: number): Promise<CountRange | null> {
      const before = await asked;
      if (before === null) return null;
      const now = before === rows ? before : ((await ask?.()) ?? before);
      return { least: Math.min(before, now), most: Math.max(before, now) };
    },
  };
}

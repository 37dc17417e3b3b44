/** A list that is asked again and again for what is new: every version of a row once, in the order of change. */
import type { JsonObject } from "../../contract/json.ts";
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import type { PageList, RowKeys } from "./lists.ts";
import { readList } from "./read-list.ts";
import { createVersionFilter, createVersionLog, NO_VERSIONS, type VersionKeys } from "./versions.ts";

/** Rows may be stored a moment after their own time: each look asks for so many seconds once more. */
export const WATCH_OVERLAP_SECONDS = 10;

interface WatchedList {
  readonly list: PageList;
  readonly keys: RowKeys;
}

export interface WatchOptions {
  /** Filtered and ordered by the time of change. */
  readonly changed: WatchedList;
  /** By the time of creation, for rows that have no time of change (4.3 does not say where these are listed). */
  readonly created: WatchedList;
  readonly isUnstamped: (row: JsonObject) => boolean;
  /** True for a row that was listed by change and shows that all are: then nothing is asked by creation any more. */
  readonly provesChanged: (row: JsonObject) => boolean;
  readonly versions: VersionKeys;
  /** The first second that is of interest, Unix; null: all rows. */
  readonly since: number | null;
  /** The service's time, Unix seconds: a row from the future must not hide those that come before it. */
  readonly now: () => number;
  readonly perPage: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

export interface ListWatch {
  /**
   * Rows that have come since the last look. A page counts as seen when the next one is asked for. Rejects with the
   * error of a request; the next look then begins where this one ended.
   */
  look(): AsyncGenerator<RowPage>;
}

/** Time filters are inclusive, and two changes may have one second: what was seen is told by its content. */
export function openWatch(options: WatchOptions): ListWatch {
  const { versions: keys, now, since: floor } = options;
  const before = { until: null, versions: NO_VERSIONS };
  const log = createVersionLog({ keys, before, overlap: WATCH_OVERLAP_SECONDS, limit: now });
  const state = { isProven: false };
  const read = ({ list, keys: rowKeys }: WatchedList, since: number | null): AsyncGenerator<RowPage> =>
    readList({
      list,
      keys: rowKeys,
      range: { since, until: null },
      perPage: options.perPage,
      concurrency: options.concurrency,
      // Rows that come later are for the next look.
      fixUntil: async ({ rows }) => Math.max(now(), ...rows.map((row) => rowKeys.at(row) ?? 0)),
      toBatch: (page) => page,
      signal: options.signal,
    });
  return {
    async *look() {
      const { until, versions } = log.tail();
      const isNew = createVersionFilter(keys, versions);
      const since = until === null ? floor : Math.max(floor ?? -Infinity, until - WATCH_OVERLAP_SECONDS);
      const take = function* (page: RowPage, wanted: (row: JsonObject) => boolean): Generator<RowPage> {
        const fresh = keepRows(page, wanted);
        if (fresh.rows.length === 0) return;
        yield fresh;
        log.note(log.find(fresh));
      };
      for await (const page of read(options.changed, since)) {
        state.isProven ||= page.rows.some(options.provesChanged);
        yield* take(page, isNew);
      }
      if (state.isProven) return;
      for await (const page of read(options.created, since))
        yield* take(page, (row) => options.isUnstamped(row) && isNew(row));
    },
  };
}

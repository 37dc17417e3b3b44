import type { JsonObject } from "../../contract/json.ts";
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import type { PagedList, RowKeys } from "./lists.ts";
import { readList } from "./read-list.ts";
import { createVersionFilter, createVersionLog, NO_VERSIONS, type VersionKeys } from "./versions.ts";

/** Rows may be stored late, so each poll repeats the last 10 seconds. */
export const WATCH_OVERLAP_SECONDS = 10;

interface WatchedList {
  readonly list: PagedList;
  readonly keys: RowKeys;
}

export interface WatchOptions {
  readonly changed: WatchedList;
  /**
   * The list sorted by creation time, for rows that were never changed: section 4.3 doesn't say where the list sorted
   * by change time has them.
   */
  readonly created: WatchedList;
  readonly isUnstamped: (row: JsonObject) => boolean;
  readonly provesChanged: (row: JsonObject) => boolean;
  readonly versions: VersionKeys;
  readonly since: number | null;
  /**
   * Unix seconds by the service's clock. Row times are capped to it, so that a row dated in the future doesn't hide
   * later ones.
   */
  readonly now: () => number;
  readonly perPage: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
}

export interface ListWatch {
  /**
   * Yields rows that are new since the last call. A page counts as seen once the next one is requested. After an error,
   * the next call continues from there.
   */
  look(): AsyncGenerator<RowPage>;
}

/** Time filters are inclusive, and two changes can share a second, so versions are compared by content. */
export function openWatch(options: WatchOptions): ListWatch {
  const { versions: keys, now, since: floor } = options;
  const before = { until: null, versions: NO_VERSIONS };
  const log = createVersionLog(keys, before, WATCH_OVERLAP_SECONDS, now);
  const state = { isProven: false };
  const read = ({ list, keys: rowKeys }: WatchedList, since: number | null): AsyncGenerator<RowPage> =>
    readList({
      list,
      keys: rowKeys,
      range: { since, until: null },
      perPage: options.perPage,
      concurrency: options.concurrency,
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

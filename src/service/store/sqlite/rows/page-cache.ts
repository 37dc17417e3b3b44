/**
 * Pages that were just listed, for those who ask again and again for what has not changed: dashboards, warehouse
 * syncs that begin with yesterday's page. Any change of any row empties it. Only memory; losing it costs time alone.
 */
import type { JsonRows } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";

const PAGES_MAX = 128;
/** UTF-16 units over all pages. */
const LENGTH_MAX = 4_000_000;

export interface PageCache {
  /** The rows that `fetch` gives, or gave for the same name when nothing has changed since. */
  rows(name: readonly unknown[], fetch: () => JsonRows): JsonRows;
}

interface CachedPage {
  readonly rows: JsonRows;
  readonly length: number;
}

export function createPageCache(database: Database): PageCache {
  const pages = new Map<string, CachedPage>();
  const state = { changes: -1, length: 0 };

  const forgetAll = (): void => {
    pages.clear();
    Object.assign(state, { changes: database.changes, length: 0 });
  };
  const remember = (key: string, rows: JsonRows): void => {
    const page = { rows, length: rows.reduce((sum, row) => sum + row.length, key.length) };
    pages.set(key, page);
    state.length += page.length;
    for (const [oldest, { length }] of pages) {
      if (pages.size <= PAGES_MAX && state.length <= LENGTH_MAX) return;
      pages.delete(oldest);
      state.length -= length;
    }
  };
  return {
    rows: (name, fetch) => {
      // What a write sees may yet be rolled back.
      if (database.writing) return fetch();
      if (state.changes !== database.changes) forgetAll();
      const key = JSON.stringify(name);
      const known = pages.get(key);
      if (known !== undefined) return known.rows;
      const rows = fetch();
      remember(key, rows);
      return rows;
    },
  };
}

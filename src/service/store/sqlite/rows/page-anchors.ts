/**
 * Page-numbered lists without counting from the start each time: where a page ended is remembered, and a later page
 * is found from the nearest such place. Valid until the project's lists change. Only memory; losing it costs time alone.
 */
import type { SqlValue } from "../engine/engine.ts";
import { whereSql, type Where } from "../sql/where.ts";

const LISTS_MAX = 64;
const ANCHORS_MAX = 512;

/** Sort key of a row: a time and an id. */
export type Key = readonly [number, number];

export interface PageAnchors {
  /** Where pages of one list ended: row count before the place → key of the row just before it. */
  of(project: number, signature: string): Map<number, Key>;
  /** The project's lists have changed, or are about to. */
  forget(project: number): void;
}

export function createPageAnchors(): PageAnchors {
  const projects = new Map<number, Map<string, Map<number, Key>>>();
  return {
    of: (project, signature) => {
      const lists = projects.get(project) ?? new Map<string, Map<number, Key>>();
      projects.set(project, lists);
      const anchors = lists.get(signature) ?? new Map<number, Key>();
      lists.delete(signature);
      lists.set(signature, anchors);
      trim(lists, LISTS_MAX);
      return anchors;
    },
    forget: (project) => {
      projects.delete(project);
    },
  };
}

function trim<Name>(map: Map<Name, unknown>, max: number): void {
  if (map.size <= max) return;
  for (const name of map.keys()) {
    map.delete(name);
    return;
  }
}

export interface PagedList {
  /** Tells this list from the project's others. */
  readonly name: string;
  readonly where: Where;
  /** The two columns that order the list. */
  readonly key: readonly [string, string];
  readonly descending: boolean;
  readonly offset: number;
  readonly limit: number;
}

/** How to fetch one page, SQL and what to do with its rows. */
export interface PlannedPage {
  readonly where: string;
  readonly order: string;
  /** Values of `where`, then of `LIMIT ? OFFSET ?`. */
  readonly values: readonly SqlValue[];
  /** The page's rows out of those fetched; notes where it began and ended, for other pages. */
  take(fetched: readonly string[], keyOf: (row: string) => Key): readonly string[];
}

/** Plans the page of `limit` rows that begins `offset` rows into a list. */
export function planPage(anchors: PageAnchors, project: number, list: PagedList): PlannedPage {
  const { where, key, descending, offset, limit } = list;
  const direction = descending ? "DESC" : "ASC";
  const order = `${key[0]} ${direction}, ${key[1]} ${direction}`;
  const known = anchors.of(project, JSON.stringify([list.name, where.clauses, where.values, order]));
  const start = nearest(known, offset);
  const from = known.get(start);
  // When rows are skipped, the last of them is fetched too: its key is where this page begins.
  const lead = offset > start ? 1 : 0;
  const note = (place: number, row: string | undefined, keyOf: (row: string) => Key): void => {
    if (row === undefined || known.has(place)) return;
    known.set(place, keyOf(row));
    trim(known, ANCHORS_MAX);
  };
  const after = from === undefined ? "" : ` AND (${key[0]}, ${key[1]}) ${descending ? "<" : ">"} (?, ?)`;
  return {
    where: whereSql(where) + after,
    order,
    values: [...where.values, ...(from ?? []), limit + lead, offset - start - lead],
    take: (fetched, keyOf) => {
      if (lead === 1) note(offset, fetched[0], keyOf);
      const rows = lead === 1 ? fetched.slice(1) : fetched;
      if (rows.length === limit) note(offset + limit, rows.at(-1), keyOf);
      return rows;
    },
  };
}

function nearest(known: ReadonlyMap<number, Key>, offset: number): number {
  if (offset === 0 || known.has(offset)) return offset;
  let best = 0;
  for (const place of known.keys()) if (place <= offset && place > best) best = place;
  return best;
}

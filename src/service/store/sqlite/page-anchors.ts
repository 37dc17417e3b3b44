/**
 * Page-numbered lists without counting from the start each time: where a page ended is remembered, and a later page
 * is found from the nearest such place. Valid until the project's lists change. Only memory; losing it costs time alone.
 */
import type { SqlValue } from "./engine.ts";
import { whereSql, type Where } from "./where.ts";

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
  readonly list: string;
  readonly where: Where;
  /** The two columns that order the list. */
  readonly key: readonly [string, string];
  readonly descending: boolean;
  readonly offset: number;
}

export interface PlannedPage {
  readonly where: string;
  readonly values: readonly SqlValue[];
  readonly order: string;
  /** Rows to skip still. */
  readonly offset: number;
  /** Notes where the page ended, for the pages after it. */
  remember(rows: readonly string[], keyOf: (row: string) => Key): void;
}

/** How to fetch the page that begins `offset` rows into a list. */
export function pageOf(anchors: PageAnchors, project: number, list: PagedList): PlannedPage {
  const { where, key, descending, offset } = list;
  const direction = descending ? "DESC" : "ASC";
  const order = `${key[0]} ${direction}, ${key[1]} ${direction}`;
  const known = anchors.of(project, JSON.stringify([list.list, where.clauses, where.values, order]));
  const start = nearest(known, offset);
  const from = start === 0 ? undefined : known.get(start);
  const remember = (rows: readonly string[], keyOf: (row: string) => Key): void => {
    const last = rows.at(-1);
    if (last === undefined || known.has(offset + rows.length)) return;
    known.set(offset + rows.length, keyOf(last));
    trim(known, ANCHORS_MAX);
  };
  if (from === undefined) return { where: whereSql(where), values: where.values, order, offset, remember };
  const after = `(${key[0]}, ${key[1]}) ${descending ? "<" : ">"} (?, ?)`;
  return { where: `${whereSql(where)} AND ${after}`, values: [...where.values, ...from], order, offset: offset - start, remember };
}

function nearest(known: ReadonlyMap<number, Key>, offset: number): number {
  if (offset === 0 || known.has(offset)) return offset;
  let best = 0;
  for (const place of known.keys()) if (place <= offset && place > best) best = place;
  return best;
}

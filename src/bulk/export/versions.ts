/** Row versions written in the time range that the next incremental run reads again. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";

export interface VersionKeys {
  id(row: JsonObject): string;
  at(row: JsonObject): number;
  /** The part of a row that edits change, to tell apart two edits in the same second. */
  content(row: JsonObject): string;
}

/** Unix times and hashes of row versions, in parallel arrays. */
export interface Versions {
  readonly ats: Float64Array;
  readonly marks: BigUint64Array;
}

export const NO_VERSIONS: Versions = { ats: new Float64Array(), marks: new BigUint64Array() };

interface VersionTail {
  readonly until: number | null;
  readonly versions: Versions;
}

export interface VersionLog {
  find(page: RowPage): Versions;
  note(found: Versions): void;
  tail(): VersionTail;
}

/**
 * Records the row versions of the last `overlap` seconds. `limit` caps the newest time, so that a row dated in the
 * future doesn't hide later ones.
 */
export function createVersionLog(
  keys: VersionKeys,
  before: VersionTail,
  overlap: number,
  limit: () => number,
): VersionLog {
  const kept = createStore(before.versions);
  let latest = before.until ?? -Infinity;
  return {
    find({ rows }) {
      const late = rows.filter((row) => keys.at(row) >= latest - overlap);
      return {
        ats: Float64Array.from(late, (row) => keys.at(row)),
        marks: BigUint64Array.from(late, (row) => hashRow(keys, row)),
      };
    },
    note(found) {
      for (const at of found.ats) latest = Math.max(latest, Math.min(at, limit()));
      kept.add(found, latest - overlap);
    },
    tail: () => ({ until: latest === -Infinity ? null : latest, versions: kept.since(latest - overlap) }),
  };
}

function createStore(first: Versions): { add(more: Versions, since: number): void; since(at: number): Versions } {
  const parts = [first];
  return {
    add(more, since) {
      while (parts[0]?.ats.every((at) => at < since) === true) parts.shift();
      parts.push(more);
    },
    since(at) {
      const kept = parts.map(({ ats, marks }) => ({
        ats: ats.filter((one) => one >= at),
        marks: marks.filter((_, index) => (ats[index] ?? 0) >= at),
      }));
      const count = kept.reduce((sum, { ats }) => sum + ats.length, 0);
      const all = { ats: new Float64Array(count), marks: new BigUint64Array(count) };
      let start = 0;
      for (const { ats, marks } of kept) {
        all.ats.set(ats, start);
        all.marks.set(marks, start);
        start += ats.length;
      }
      return all;
    },
  };
}

export function createVersionFilter(keys: VersionKeys, { marks }: Versions): (row: JsonObject) => boolean {
  const sorted = marks.toSorted();
  return (row) => {
    const mark = hashRow(keys, row);
    let [low, high] = [0, sorted.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((sorted[middle] ?? 0n) < mark) low = middle + 1;
      else high = middle;
    }
    return sorted[low] !== mark;
  };
}

function hashRow(keys: VersionKeys, row: JsonObject): bigint {
  const content = createHash("sha256").update(keys.content(row)).digest("base64url").slice(0, 11);
  return hashVersion(keys.id(row), keys.at(row), content);
}

/** `content` is the first 11 characters of a SHA-256, as in state files of format 1. */
export function hashVersion(id: string, at: number, content: string): bigint {
  return createHash("sha256").update(`${at} ${content} ${id}`).digest().readBigUInt64LE();
}

/** Row versions written in the time range that the next incremental run reads again. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "../../contract/row-page.ts";

export interface VersionKeys {
  id(row: JsonObject): string;
  at(row: JsonObject): number;
  /** Tells apart two edits in the same second. */
  content(row: JsonObject): string;
}

/** A row's Unix time and a hash of the row. */
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
 * A new row is never older than existing ones. `limit` returns a Unix time that has passed, so that a row dated in the
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

const ROOM_MIN = 2048;

/** Drops old versions first, and grows by half if that doesn't free enough. */
function createStore(first: Versions): { add(more: Versions, since: number): void; since(at: number): Versions } {
  let ats = new Float64Array(ROOM_MIN);
  let marks = new BigUint64Array(ROOM_MIN);
  let count = 0;
  const compact = (since: number): void => {
    let kept = 0;
    for (let index = 0; index < count; index += 1) {
      if ((ats[index] ?? 0) < since) continue;
      ats[kept] = ats[index] ?? 0;
      marks[kept] = marks[index] ?? 0n;
      kept += 1;
    }
    count = kept;
  };
  const makeRoom = (most: number, since: number): void => {
    if (count + most <= ats.length) return;
    compact(since);
    if (count + most <= ats.length * 0.75) return;
    const room = Math.ceil((count + most) * 1.5);
    const [widerAts, widerMarks] = [new Float64Array(room), new BigUint64Array(room)];
    widerAts.set(ats.subarray(0, count));
    widerMarks.set(marks.subarray(0, count));
    [ats, marks] = [widerAts, widerMarks];
  };
  const add = (more: Versions, since: number): void => {
    makeRoom(more.ats.length, since);
    ats.set(more.ats, count);
    marks.set(more.marks, count);
    count += more.ats.length;
  };
  add(first, -Infinity);
  return {
    add,
    since(at) {
      compact(at);
      return { ats: ats.subarray(0, count), marks: marks.subarray(0, count) };
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

/** `content` is the first 11 characters of a SHA-256, as in states of format 1. */
export function hashVersion(id: string, at: number, content: string): bigint {
  return createHash("sha256").update(`${at} ${content} ${id}`).digest().readBigUInt64LE();
}

/** The versions of rows that an incremental run has written, as far back as the next one will ask again. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "./lists.ts";

/** Id, time of the version in Unix seconds, and a mark of its content. */
export type Version = readonly [id: string, at: number, mark: string];

/** The same before its content is boiled down, which few live to see. */
export type Noted = readonly [id: string, at: number, content: string];

export interface VersionKeys {
  id(row: JsonObject): string;
  /** When the row became what it is, Unix seconds. */
  at(row: JsonObject): number;
  /** What an edit changes. Two edits within a second have the same time and differ in this. */
  content(row: JsonObject): string;
}

/** How far runs came, and what they wrote of the last seconds before. */
export interface VersionTail {
  /** Unix seconds; null when there was no row yet. */
  readonly until: number | null;
  readonly versions: readonly Version[];
}

export interface VersionLog {
  /** What may have to be known again of rows, when they are handed on. */
  find(page: RowPage): readonly Noted[];
  /** Takes it down. */
  note(found: readonly Noted[]): void;
  tail(): VersionTail;
}

export interface VersionLogOptions {
  readonly keys: VersionKeys;
  readonly before: VersionTail;
  /** Seconds before the latest row that the next run asks for again. */
  readonly overlap: number;
  /** A time that is certainly over, Unix seconds: a row from the future must not hide those that come before it. */
  readonly limit: () => number;
}

const PRUNED_MIN = 2000;

/** Goes by the rows' own times: whatever clocks say, no row that was not there yet is older than those that were. */
export function createVersionLog({ keys, before, overlap, limit }: VersionLogOptions): VersionLog {
  let latest = before.until ?? -Infinity;
  let kept: Noted[] = [];
  let pruneAt = PRUNED_MIN;
  const isLate = ([, at]: Noted | Version): boolean => at >= latest - overlap;
  return {
    find: ({ rows }) =>
      rows
        .filter((row) => keys.at(row) >= latest - overlap)
        .map((row) => [keys.id(row), keys.at(row), keys.content(row)]),
    note(found) {
      for (const [, at] of found) latest = Math.max(latest, Math.min(at, limit()));
      for (const version of found) kept.push(version);
      if (kept.length < pruneAt) return;
      kept = kept.filter(isLate);
      pruneAt = Math.max(PRUNED_MIN, 2 * kept.length);
    },
    tail() {
      const versions = [...before.versions.filter(isLate), ...kept.filter(isLate).map(toVersion)];
      return {
        until: latest === -Infinity ? null : latest,
        versions: [...new Map(versions.map((one) => [nameOf(one), one])).values()],
      };
    },
  };
}

/** Whether a row is a version that was not written before. */
export function createVersionFilter(keys: VersionKeys, written: readonly Version[]): (row: JsonObject) => boolean {
  const marks = new Set(written.map(nameOf));
  return (row) => !marks.has(nameOf(toVersion([keys.id(row), keys.at(row), keys.content(row)])));
}

function toVersion([id, at, content]: Noted): Version {
  return [id, at, createHash("sha256").update(content).digest("base64url").slice(0, 11)];
}

function nameOf([id, at, mark]: Version): string {
  return `${at} ${mark} ${id}`;
}

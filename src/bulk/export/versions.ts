/** The versions of rows that an incremental run has written, as far back as the next one will ask again. */
import { createHash } from "node:crypto";
import type { JsonObject } from "../../contract/json.ts";
import type { RowPage } from "./lists.ts";

/** Id, time of the version in Unix seconds, and a mark of its content. */
export type Version = readonly [id: string, at: number, mark: string];

export interface VersionKeys {
  id(row: JsonObject): string;
  /** When the row became what it is, Unix seconds. */
  at(row: JsonObject): number;
  /** What an edit changes. Two edits within a second have the same time and differ in this. */
  content(row: JsonObject): string;
}

/** Whether a row is a version that was not written before. */
export function createVersionFilter(keys: VersionKeys, written: readonly Version[]): (row: JsonObject) => boolean {
  const marks = new Set(written.map(nameOf));
  return (row) => !marks.has(nameOf(versionOf(keys, row)));
}

/** The versions of a page from `from` on, Unix seconds. */
export function versionsSince(keys: VersionKeys, { rows }: RowPage, from: number): readonly Version[] {
  return rows.filter((row) => keys.at(row) >= from).map((row) => versionOf(keys, row));
}

function versionOf(keys: VersionKeys, row: JsonObject): Version {
  const mark = createHash("sha256").update(keys.content(row)).digest("base64url").slice(0, 11);
  return [keys.id(row), keys.at(row), mark];
}

function nameOf([id, at, mark]: Version): string {
  return `${at} ${mark} ${id}`;
}

/** The versions of both that are no older than `from`, each once. */
export function mergeVersions(before: readonly Version[], now: readonly Version[], from: number): readonly Version[] {
  const merged = new Map([...before, ...now].filter(([, at]) => at >= from).map((version) => [nameOf(version), version]));
  return [...merged.values()];
}

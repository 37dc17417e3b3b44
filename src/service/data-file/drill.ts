import { readdirSync, statSync } from "node:fs";
import path from "node:path";
import { scoreCategory } from "../../contract/limits.ts";
import { type SurveyResponse, toCoreMetrics } from "../../contract/resources.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import type { Project } from "../domain/inputs.ts";
import type { Store, StoreContents } from "../domain/ports.ts";
import { readErasureLog } from "../domain/privacy/erasure-log.ts";
import { newestResponses } from "../newest-responses.ts";
import { isSqliteFile, isUnusedCopy } from "../store/sqlite/engine/data-file.ts";
import { readCopyMarks } from "../store/sqlite/inspect-copy.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { type CopyStoreOptions, restoreStore } from "./move-store.ts";
import { openDataFile } from "./open-data-file.ts";

export interface DrillOptions extends Pick<CopyStoreOptions, "clock" | "random" | "signal" | "onRows"> {
  readonly file: string;
  readonly folder: string;
  readonly running: Store;
}

export interface Drilled extends StoreContents {
  readonly made_at: number;
  /** Finished months whose responses have changed since. */
  readonly differences: readonly string[];
  /** Responses missing from the backup, although nothing indicates that they were added later. */
  readonly missing: readonly string[];
}

export async function drill({ file, folder, running, ...options }: DrillOptions): Promise<Drilled> {
  if (statSync(file).size === 0) throw new StoreFileError("damaged", `${file} is empty`);
  const to = path.join(folder, "survey.db");
  const { projects, people, responses, surveys } = await restoreStore({ ...options, from: file, to });
  if (people === 0 && responses === 0)
    throw new StoreFileError("damaged", `${file} is empty: it has no people and no responses`);
  const store = await openDataFile({ ...options, dataFile: to });
  try {
    const [finding] = await store.check();
    if (finding !== undefined) throw new StoreFileError("damaged", `${file}: the restored data is damaged: ${finding}`);
    const { madeAt, nextIds } = await readCopyMarks(file);
    const drilled = { made_at: madeAt, projects, people, responses, surveys, differences: [], missing: [] };
    const [{ secret }, other] = [await store.read(readErasureLog), await running.read(readErasureLog)];
    if (secret !== other.secret) throw new StoreFileError("foreign", `${file} is a backup of another service`);
    for (const project of await running.read((tx) => tx.projects.list()))
      await compareMonths([store, running], project, { madeAt, nextId: nextIds.get(project.id) ?? 0 }, drilled);
    return drilled;
  } finally {
    await store.close();
  }
}

export function newestBackup(folder: string): string | null {
  const backups = readdirSync(folder).flatMap((name) => {
    const file = path.join(folder, name);
    // A file with a backup's name counts even if it is damaged.
    const isBackup = isUnusedCopy(file) || (/\.db(?:\.\d+)?$/.test(file) && !isSqliteFile(file));
    return isBackup ? [{ file, at: statSync(file).mtimeMs }] : [];
  });
  return backups.toSorted((one, other) => other.at - one.at)[0]?.file ?? null;
}

/** Compares finished months, newest first. Only imports add responses to a finished month. */
async function compareMonths(
  stores: readonly [backup: Store, running: Store],
  project: Project,
  { madeAt, nextId }: { readonly madeAt: number; readonly nextId: number },
  drilled: { differences: string[]; missing: string[] },
): Promise<void> {
  const imports = { since: madeAt, by: null, operation: "import", before: null, limit: 1 };
  const isImported = (await stores[1].read((tx) => tx.operationLog.list(project.id, imports))).length > 0;
  for (let end = monthStart(madeAt), since = end; ; end = since) {
    const last = Math.max(...(await Promise.all(stores.map((store) => lastBefore(store, project, end)))));
    if (last === -Infinity) return;
    since = monthStart(last);
    const before = await scoresIn(stores[0], project, since, end);
    const now = await scoresIn(stores[1], project, since, end);
    const later = [...now.keys()].filter((id) => !before.has(id));
    const missing = isImported ? 0 : later.filter((id) => id < nextId).length;
    const changed = [...now].filter(([id, score]) => before.has(id) && before.get(id) !== score).length;
    const deleted = [...before.keys()].filter((id) => !now.has(id)).length;
    if (later.length + changed + deleted === 0) continue;
    const month = `${new Date(since * 1000).toISOString().slice(0, "2026-01".length)} in project ${project.name}`;
    const changes = `${later.length - missing} added, ${changed} changed, ${deleted} deleted, ${missing} missing`;
    drilled.differences.push(`${month}: ${describe(before)}, now ${describe(now)}: ${changes}`);
    if (missing > 0) drilled.missing.push(`${countOf(missing, "response", "responses")} of ${month}`);
  }
}

function monthStart(seconds: number): number {
  const date = new Date(seconds * 1000);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000;
}

async function lastBefore(store: Store, project: Project, end: number): Promise<number> {
  for await (const text of newestResponses(store, project.id, { since: 0, until: end - 1, trendId: null }))
    return (JSON.parse(text) as SurveyResponse).created_at;
  return -Infinity;
}

/** Scores by response id; null for responses that aren't NPS. */
type Scores = ReadonlyMap<number, number | null>;

async function scoresIn(store: Store, project: Project, since: number, end: number): Promise<Scores> {
  const scores = new Map<number, number | null>();
  for await (const text of newestResponses(store, project.id, { since, until: end - 1, trendId: null })) {
    const { id, score, survey_type: type } = JSON.parse(text) as SurveyResponse;
    scores.set(Number(id), type === "nps" ? score : null);
  }
  return scores;
}

function describe(scores: Scores): string {
  const counts = { promoters: 0, passives: 0, detractors: 0 };
  for (const score of scores.values()) if (score !== null) counts[`${scoreCategory(score)}s`] += 1;
  return `${countOf(scores.size, "response", "responses")} (NPS ${toCoreMetrics(counts).nps})`;
}

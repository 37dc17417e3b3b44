import path from "node:path";
import { stat, unlink } from "node:fs/promises";
import type { JournalHead } from "../../../bulk/import/journal/journal-entry.ts";
import { type JournalState, readJournal } from "../../../bulk/import/journal/journal-state.ts";
import { countOutcomes } from "../../../bulk/import/journal/outcome.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { isLocked, LockedError, takeLock } from "../../../runtime/files/lock-file.ts";
import type { Deps } from "../../kit/deps.ts";
import { watchLock } from "../../kit/notes.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";
import { filesOf, JOURNAL_SUFFIX, listJournals, type RunFiles } from "../../importing/run-files.ts";

export interface ImportRun {
  readonly files: RunFiles;
  readonly head: JournalHead;
  readonly state: JournalState;
}

/**
 * `finished`: no row is worth a retry. `incomplete`: some rows failed or are unknown. `stopped`: some rows have no
 * outcome yet. `running`: another process is working on it.
 */
export type RunStatus = "finished" | "incomplete" | "stopped" | "running";

export async function findRuns(name: string | null): Promise<ImportRun[]> {
  const journals = name === null ? await listJournals(".") : await journalsOf(name);
  const runs: ImportRun[] = [];
  for (const journal of journals) {
    const run = await readRun(filesOf(journal.slice(0, -JOURNAL_SUFFIX.length)));
    if (run !== null) runs.push(run);
  }
  if (runs.length === 0 && name !== null) throw new NothingFoundError(`no import of ${name} is recorded`);
  return runs;
}

async function readRun(files: RunFiles): Promise<ImportRun | null> {
  const state = await readJournal(files.journal);
  return state.head === null ? null : { files, head: state.head, state };
}

async function journalsOf(name: string): Promise<string[]> {
  const found = await stat(name).catch(() => null);
  if (found?.isDirectory() === true) return listJournals(name);
  if (name.endsWith(JOURNAL_SUFFIX)) return [name];
  const journals = await listJournals(path.dirname(name));
  const base = path.basename(name);
  return journals.filter((journal) => path.basename(journal).startsWith(`${base}.`));
}

export async function statusOf(run: ImportRun): Promise<RunStatus> {
  return (await isLocked(run.files.lock)) ? "running" : restingStatusOf(run);
}

function restingStatusOf({ state, head }: ImportRun): RunStatus {
  if (!state.ended && countOutcomes(state.counts) < head.rows) return "stopped";
  return state.counts.failed + state.counts.unknown > 0 ? "incomplete" : "finished";
}

/** Returns false if another run holds the lock or has started in the meantime. */
export async function removeJournal({ files }: ImportRun, deps: Deps): Promise<boolean> {
  const lock = await takeLock(files.lock, deps.random.token(6), watchLock(deps)).catch((error: unknown) => {
    if (error instanceof LockedError) return null;
    throw error;
  });
  if (lock === null) return false;
  try {
    const run = await readRun(files);
    if (run === null || restingStatusOf(run) !== "finished") return false;
    await unlink(files.journal);
    return true;
  } finally {
    await lock.release();
  }
}

export function toRow({ files, head, state }: ImportRun, status: RunStatus): JsonObject {
  return {
    file: head.file,
    command: head.command,
    status,
    rows: head.rows,
    ...state.counts,
    remaining: head.rows - countOutcomes(state.counts),
    started_at: head.at,
    base_url: head.baseUrl,
    results: files.results,
  };
}

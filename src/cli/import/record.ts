/** Where an import is recorded: results, journal and lock, and whether a run may begin or go on. */
import { stat } from "node:fs/promises";
import { emptyJournal, readJournal, type JournalState } from "../../bulk/import/journal/journal-state.ts";
import type { JournalHead } from "../../bulk/import/journal/journal-entry.ts";
import { openReplacement } from "../../runtime/file-replacement.ts";
import { LockedError, takeLock, type Lock } from "../../runtime/lock-file.ts";
import { resolveFile } from "../../runtime/resolve-file.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { ImportRequest } from "./import-request.ts";
import { isReadOnce } from "./input-source.ts";

export interface RecordFiles {
  readonly results: string;
  readonly journal: string;
  readonly lock: string;
}

/** Throws UsageError where the results must be named. */
export async function recordFiles({ input, flags }: ImportRequest): Promise<RecordFiles> {
  if (flags.results === null && (await isReadOnce(input)))
    throw new UsageError(
      `--results is needed with ${input === "-" ? "standard input" : input}: where shall the outcomes go?`,
    );
  const results = flags.results ?? `${input}.results.csv`;
  return { results, journal: `${results}.journal`, lock: `${results}.lock` };
}

/** What cannot be written at the end is found before the first request. Throws UsageError, or UnwritableFileError. */
export async function checkTargets(
  { random }: Deps,
  { input, flags: { failedTo } }: ImportRequest,
  files: RecordFiles,
): Promise<void> {
  const results = ["the results", files.results] as const;
  checkApart([
    ["the input", input === "-" ? null : input],
    results,
    ["the journal", files.journal],
    ["--failed-to", failedTo],
  ]);
  for (const file of [files.results, failedTo]) {
    if (file !== null) await (await openReplacement(file, random.token(6))).discard();
  }
}

/** None may write over another, the input least of all. */
function checkApart(uses: readonly (readonly [use: string, file: string | null])[]): void {
  const taken = new Map<string, string>();
  for (const [use, file] of uses) {
    if (file === null) continue;
    const place = resolveFile(file);
    const other = taken.get(place);
    if (other !== undefined) throw new UsageError(`${file} is ${other} already; it cannot be ${use} too`);
    taken.set(place, use);
  }
}

/** One run at a time on the same results. Throws UsageError. */
export async function lockRecord({ lock }: RecordFiles, { random }: Deps): Promise<Lock> {
  try {
    return await takeLock(lock, random.token(6));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    const holder = error.pid === null ? "another run" : `another run (process ${error.pid})`;
    throw new UsageError(`${holder} is importing with these results already`, {
      hint: `wait for it; its lock is ${lock}`,
      cause: error,
    });
  }
}

/** What former runs did that this one goes on from; an empty state for a new import. Throws UsageError when neither fits. */
export async function findFormerRun(
  files: RecordFiles,
  head: JournalHead,
  request: ImportRequest,
): Promise<JournalState> {
  const state = await readJournal(files.journal);
  if (state.head === null) {
    if (state.length > 0)
      throw new UsageError(`the journal ${files.journal} is damaged: which file it belongs to cannot be told`, {
        hint: `name other results: --results other.csv, or move ${files.journal} away`,
      });
    if (request.harmfulTwice) await refuseLostJournal(files);
    return state;
  }
  if (request.flags.resume) {
    checkSame(state.head, head, files);
    return state;
  }
  if (!state.ended) {
    throw new UsageError(`a former import with these results stopped before its end`, {
      hint: `go on with it: the same command with --resume\nor begin another: --results other.csv, or remove ${files.journal}`,
    });
  }
  if (state.head.input === head.input && request.harmfulTwice) {
    throw new UsageError(`this very file was imported already; the outcomes are in ${files.results}`, {
      hint: `to send it all once more, name other results: --results other.csv`,
    });
  }
  return emptyJournal();
}

/** Results without their journal: of which file, and to whom, nobody can tell. */
async function refuseLostJournal({ results, journal }: RecordFiles): Promise<void> {
  const found = await stat(results).catch(() => null);
  if (found === null || !found.isFile()) return;
  throw new UsageError(`${results} is there already, and its journal ${journal} is not: what was sent cannot be told`, {
    hint: `name other results: --results other.csv, or move ${results} away`,
  });
}

function checkSame(before: JournalHead, now: JournalHead, { journal }: RecordFiles): void {
  if (before.input !== now.input)
    throw changed("the input file has changed since", "import the corrected rows as a new file, without --resume");
  if (before.command !== now.command)
    throw changed("the former run had other flags", "give the same flags, and --resume");
  if (before.baseUrl !== now.baseUrl)
    throw changed(`the former run went to ${before.baseUrl}`, "give the same connection, and --resume");
  function changed(what: string, hint: string): UsageError {
    return new UsageError(`--resume: ${what}; its journal is ${journal}`, { hint });
  }
}

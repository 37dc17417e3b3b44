/** The record of an import: results, journal and lock, and whether a run may begin or be resumed. */
import { readdir, stat } from "node:fs/promises";
import path from "node:path";
import { emptyJournal, readJournal, type JournalState } from "../../bulk/import/journal/journal-state.ts";
import { readJournalHead, type JournalHead } from "../../bulk/import/journal/journal-entry.ts";
import type { Json } from "../../contract/json.ts";
import { openReplacement, resolveFile } from "../../runtime/files/file-replacement.ts";
import { LockedError, takeLock, type Lock } from "../../runtime/files/lock-file.ts";
import type { Deps } from "../command/deps.ts";
import { watchLock } from "../command/notes.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { ImportRequest } from "./import-request.ts";
import { isReadOnce } from "./input-source.ts";

export interface RunFiles {
  readonly results: string;
  readonly journal: string;
  readonly lock: string;
}

export const JOURNAL_SUFFIX = ".journal";

/** Throws UsageError where `--results` is required, or where there is nothing to resume. */
export async function runFiles({ input, fileName, flags }: ImportRequest): Promise<RunFiles> {
  if (flags.results === null && (await isReadOnce(input)))
    throw new UsageError(`--results FILE is required when reading ${input === "-" ? "standard input" : input}`);
  const files = filesOf(flags.results ?? `${input}.${fileName}.results.csv`);
  if (flags.resume) await checkResumable(files);
  return files;
}

export function filesOf(results: string): RunFiles {
  return { results, journal: `${results}${JOURNAL_SUFFIX}`, lock: `${results}.lock` };
}

async function checkResumable({ journal }: RunFiles): Promise<void> {
  if ((await stat(journal).catch(() => null)) !== null) return;
  const others = await listJournals(path.dirname(journal));
  const found = `${others.slice(0, NAMED_MAX).join(", ")}${others.length > NAMED_MAX ? ", …" : ""}`;
  throw new UsageError(`nothing to resume: ${journal} not found`, {
    hint:
      others.length === 0
        ? "to begin the import, leave --resume out"
        : `found ${found}; --results FILE selects the results of a previous run`,
  });
}

const NAMED_MAX = 5;

/** Journals in a folder, by name; none where it cannot be read. */
export async function listJournals(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch(() => []);
  const journals = names.filter((name) => name.endsWith(JOURNAL_SUFFIX));
  return journals.toSorted().map((name) => (folder === "." ? name : path.join(folder, name)));
}

/**
 * Files that cannot be written at the end are found before the first request. Throws UsageError, or
 * UnwritableFileError.
 */
export async function checkTargets(
  { random }: Deps,
  { input, flags: { failedTo } }: ImportRequest,
  files: RunFiles,
): Promise<void> {
  checkApart([
    ["the input", input === "-" ? null : input],
    ["the results", files.results],
    ["the journal", files.journal],
    ["the lock", files.lock],
    ["--failed-to", failedTo],
  ]);
  for (const file of [files.results, files.journal, failedTo]) {
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
    if (other !== undefined) throw new UsageError(`${file} is already ${other}; it cannot be ${use} too`);
    taken.set(place, use);
  }
}

/** One run at a time on the same results. Throws UsageError. */
export async function lockRun({ lock }: RunFiles, deps: Deps): Promise<Lock> {
  try {
    return await takeLock(lock, deps.random.token(6), watchLock(deps));
  } catch (error) {
    if (!(error instanceof LockedError)) throw error;
    if (error.pid === null)
      throw new UsageError(`${lock} exists, but does not identify the run that holds it`, {
        hint: "if no import is running, remove it",
        cause: error,
      });
    throw new UsageError(`another run (process ${error.pid}) is importing with these results`, {
      hint: `wait for it to end; its lock is ${lock}`,
      cause: error,
    });
  }
}

/**
 * The state of previous runs that this one resumes; an empty state for a new import. Throws UsageError when neither
 * fits.
 */
export async function findPreviousRun(
  files: RunFiles,
  head: JournalHead,
  request: ImportRequest,
): Promise<JournalState> {
  const state = await readJournal(files.journal);
  if (state.head === null) {
    if (state.length > 0)
      throw new UsageError(`the journal ${files.journal} is damaged: its file cannot be identified`, {
        hint: `use other results: --results other.csv, or move ${files.journal} away`,
      });
    if (request.repeatDoesHarm) await refuseLostJournal(files);
  } else if (request.flags.resume) {
    checkSame(state.head, head, files);
    return state;
  } else {
    if (!state.ended) throw unfinished(files);
    if (isSameImport(state.head, head) && (request.repeatDoesHarm || hasOtherSend(state.head, head)))
      throw alreadyImported(files);
  }
  if (request.repeatDoesHarm && request.flags.results === null) await refuseCopy(files, head);
  return emptyJournal();
}

function isSameImport(one: JournalHead, other: JournalHead): boolean {
  return one.input === other.input && one.command === other.command && one.baseUrl === other.baseUrl;
}

/** A run that only saves would write over the record of one that sends. */
function hasOtherSend({ choices: before }: JournalHead, { choices: now }: JournalHead): boolean {
  return before["--send"] !== now["--send"];
}

function alreadyImported({ results }: RunFiles): UsageError {
  return new UsageError(`this file has already been imported (results: ${results})`, {
    hint: "to import it again: --results other.csv",
  });
}

function unfinished({ results }: RunFiles): UsageError {
  return new UsageError(`a previous import of this file did not finish (results: ${results})`, {
    hint: "resume it with --resume, or start over with --results other.csv",
  });
}

/** The same content under another name mails the same people. */
async function refuseCopy(files: RunFiles, head: JournalHead): Promise<void> {
  for (const journal of await listJournals(path.dirname(files.journal))) {
    const found = await readJournalHead(journal);
    if (found === null || !isSameImport(found, head)) continue;
    const others = filesOf(journal.slice(0, -JOURNAL_SUFFIX.length));
    throw (await readJournal(journal)).ended ? alreadyImported(others) : unfinished(others);
  }
}

/** Results without their journal: of which file, and to whom, cannot be known. */
async function refuseLostJournal({ results, journal }: RunFiles): Promise<void> {
  const found = await stat(results).catch(() => null);
  if (found === null || !found.isFile()) return;
  throw new UsageError(`${results} exists, but its journal ${journal} does not: there is no record of what was sent`, {
    hint: `use other results: --results other.csv, or move ${results} away`,
  });
}

function checkSame(before: JournalHead, now: JournalHead, { journal }: RunFiles): void {
  if (before.input !== now.input)
    throw changed("the input file has changed", "import the corrected rows as a new file, without --resume");
  if (before.command !== now.command)
    throw changed(`the previous run was ${before.command}`, "run the same command, with --resume");
  const other = differences(before.choices, now.choices);
  if (other.length > 0)
    throw changed(`the previous run differed in ${other.join(", ")}`, "use the same flags, with --resume");
  if (before.baseUrl !== now.baseUrl)
    throw changed(`the previous run used ${before.baseUrl}`, "use the same connection, with --resume");
  if (before.key !== now.key) throw changed("the previous run used another API key", "use the same key, with --resume");
  function changed(what: string, hint: string): UsageError {
    return new UsageError(`--resume: ${what}; its journal is ${journal}`, { hint });
  }
}

function differences(before: JournalHead["choices"], now: JournalHead["choices"]): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => textOf(before[name]) !== textOf(now[name]));
}

function textOf(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}

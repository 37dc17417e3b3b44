import { stat } from "node:fs/promises";
import path from "node:path";
import { carryOver, type CarriedOver } from "../../bulk/import/journal/carry-over.ts";
import type { RowSource } from "../../bulk/import/journal/decide-rows.ts";
import { type JournalHead, readJournalHead } from "../../bulk/import/journal/journal-entry.ts";
import { JournalState, readJournal } from "../../bulk/import/journal/journal-state.ts";
import type { OutcomeCounts } from "../../bulk/import/journal/outcome.ts";
import type { Json } from "../../contract/json.ts";
import { countOf } from "../../contract/text/whole-number.ts";
import { UsageError } from "../errors/usage-error.ts";
import { type ImportRequest, repeatDoesHarm } from "./import-request.ts";
import { isReadOnce } from "./input-source.ts";
import { filesOf, JOURNAL_SUFFIX, listJournals, type RunFiles } from "./run-files.ts";

export interface PreviousRun {
  readonly before: JournalState;
  /** Set if the input file has changed since that run; the journal is then rewritten first. */
  readonly carried: CarriedOver | null;
  readonly isUnchanged: boolean;
}

interface RunToBegin {
  readonly files: RunFiles;
  readonly head: JournalHead;
  readonly request: ImportRequest;
  readonly source: RowSource;
}

export async function findPreviousRun(run: RunToBegin): Promise<PreviousRun> {
  const { files, head, request } = run;
  const before = await readJournal(files.journal);
  if (before.undone) throw undone(files);
  if (before.head !== null && request.flags.resume) return await resume(run, before, before.head);
  const repeated = before.head === null ? null : await findRepeated(run, before, before.head);
  if (repeated?.isUnchanged === true) return repeated;
  if (before.head === null) await checkNew(run, before);
  if (repeatDoesHarm(request) && request.flags.results === null) await refuseCopy(files, head);
  return repeated ?? { before: new JournalState(), carried: null, isUnchanged: false };
}

async function checkNew(run: RunToBegin, { length }: JournalState): Promise<void> {
  const { files, request } = run;
  if (length > 0)
    throw new UsageError(`the journal ${files.journal} is damaged: its file cannot be identified`, {
      hint: `use other results: --results other.csv, or move ${files.journal} away`,
    });
  if (request.flags.resume) await refuseOtherName(run);
  if (repeatDoesHarm(request)) await refuseLostJournal(files);
}

async function resume(run: RunToBegin, before: JournalState, previous: JournalHead): Promise<PreviousRun> {
  const { files, head, request, source } = run;
  checkSame(previous, head, files.journal);
  if (previous.input === head.input) return { before, carried: null, isUnchanged: false };
  const carried = await carryOver(files.journal, head, source);
  // A corrected row would survey the same person again. Responses are safe, because repeats are recognized by their
  // content.
  if (carried.missing > 0 && request.kind.repeats !== "answer")
    throw resumeError(
      files.journal,
      "the input file has changed",
      "import the corrected rows as a new file, without --resume",
    );
  return { before: carried.before, carried, isUnchanged: false };
}

/**
 * Returns the finished run if this file has nothing new. An import of responses also continues a run whose file has
 * changed, and sends only the new rows.
 */
async function findRepeated(
  { files, head, request, source }: RunToBegin,
  before: JournalState,
  previous: JournalHead,
): Promise<PreviousRun | null> {
  if (!before.ended) throw unfinished(files);
  if (!isSamePlace(previous, head) || request.isRemoval === true) return null;
  const isSameFile = previous.input === head.input;
  const areAnswers = request.kind.repeats === "answer";
  const isSameAccount = previous.key === head.key;
  const hasSameChoices = differences(previous.choices, head.choices).length === 0;
  if (isSameFile && isSameAccount && hasSameChoices) return { before, carried: null, isUnchanged: true };
  if (isSameFile && (repeatDoesHarm(request) || hasOtherSend(previous, head))) throw alreadyImported(files);
  if (isSameFile || !isSameAccount || !(hasSameChoices || areAnswers)) return null;
  const carried = await carryOver(files.journal, head, source);
  const isUnchanged = carried.fresh === 0 && (areAnswers || carried.missing === 0);
  return isUnchanged || areAnswers ? { before: carried.before, carried, isUnchanged } : null;
}

function isSamePlace(one: JournalHead, other: JournalHead): boolean {
  return one.command === other.command && one.baseUrl === other.baseUrl;
}

/** A run that only saves people would overwrite the record of one that sent surveys. */
function hasOtherSend({ choices: before }: JournalHead, { choices: now }: JournalHead): boolean {
  return before["--send"] !== now["--send"];
}

export function describeUnchanged(
  { input }: ImportRequest,
  { counts }: JournalState,
  { results }: RunFiles,
): { readonly note: string; readonly counts: OutcomeCounts } {
  const open = counts.failed + counts.unknown;
  const retry = open === 0 ? "" : `; ${countOf(open, "row")} failed or unknown: --resume tries again`;
  const name = input === "-" ? "the input" : input;
  return { note: `${name} is as it was imported, nothing was sent (results: ${results})${retry}`, counts };
}

/** If `--results` was mistyped, resuming would find no journal and survey everyone again. */
async function refuseOtherName({ files, head, request: { input } }: RunToBegin): Promise<void> {
  const isFile = !(await isReadOnce(input));
  const folders = new Set([path.dirname(files.journal), ...(isFile ? [path.dirname(input)] : [])]);
  for (const folder of folders)
    for (const journal of await listJournals(folder)) {
      const found = await readJournalHead(journal);
      if (found === null || !isSamePlace(found, head)) continue;
      if (found.input !== head.input && !(isFile && path.resolve(found.file) === path.resolve(input))) continue;
      const { results } = filesOf(journal.slice(0, -JOURNAL_SUFFIX.length));
      throw new UsageError(
        `nothing to resume: ${files.journal} not found, but this file was imported (results: ${results})`,
        {
          hint: `to resume that run: --results ${results}; to import everything again, leave --resume out`,
        },
      );
    }
}

function alreadyImported({ results }: RunFiles): UsageError {
  return new UsageError(`this file has already been imported (results: ${results})`, {
    hint: "to import it again: --results other.csv",
  });
}

/** The journal of an import that was undone doesn't say which rows are gone. */
function undone({ results }: RunFiles): UsageError {
  return new UsageError(`this import was undone (results: ${results})`, {
    hint: "to import the file again, with the rows that were kept: --results other.csv",
  });
}

function unfinished({ results }: RunFiles): UsageError {
  return new UsageError(`a previous import of this file did not finish (results: ${results})`, {
    hint: "resume it with --resume, or start over with --results other.csv",
  });
}

/** Importing the same content under another name would mail the same people. */
async function refuseCopy(files: RunFiles, head: JournalHead): Promise<void> {
  for (const journal of await listJournals(path.dirname(files.journal))) {
    const found = await readJournalHead(journal);
    if (found === null || found.input !== head.input || !isSamePlace(found, head)) continue;
    const others = filesOf(journal.slice(0, -JOURNAL_SUFFIX.length));
    throw (await readJournal(journal)).ended ? alreadyImported(others) : unfinished(others);
  }
}

/** Refuses to start if there are results without a journal, because nothing records what was sent. */
async function refuseLostJournal({ results, journal }: RunFiles): Promise<void> {
  const found = await stat(results).catch(() => null);
  if (found === null || !found.isFile()) return;
  throw new UsageError(`${results} exists, but its journal ${journal} does not: there is no record of what was sent`, {
    hint: `use other results: --results other.csv, or move ${results} away`,
  });
}

function checkSame(before: JournalHead, now: JournalHead, journal: string): void {
  if (before.command !== now.command)
    throw resumeError(journal, `the previous run was ${before.command}`, "run the same command, with --resume");
  const other = differences(before.choices, now.choices);
  if (other.length > 0)
    throw resumeError(journal, `the previous run differed in ${other.join(", ")}`, "use the same flags, with --resume");
  if (before.baseUrl !== now.baseUrl)
    throw resumeError(journal, `the previous run used ${before.baseUrl}`, "use the same connection, with --resume");
  if (before.key !== now.key)
    throw resumeError(journal, "the previous run used another API key", "use the same key, with --resume");
}

function resumeError(journal: string, what: string, hint: string): UsageError {
  return new UsageError(`--resume: ${what}; its journal is ${journal}`, { hint });
}

function differences(before: JournalHead["choices"], now: JournalHead["choices"]): string[] {
  const names = new Set([...Object.keys(before), ...Object.keys(now)]);
  return [...names].filter((name) => textOf(before[name]) !== textOf(now[name]));
}

function textOf(value: Json | undefined): string {
  return JSON.stringify(value ?? null);
}

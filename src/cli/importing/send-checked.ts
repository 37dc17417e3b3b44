import { stat } from "node:fs/promises";
import { type Journal, openJournal } from "../../bulk/import/journal/journal.ts";
import type { JournalHead } from "../../bulk/import/journal/journal-entry.ts";
import type { RowSource } from "../../bulk/import/journal/decide-rows.ts";
import type { JournalState } from "../../bulk/import/journal/journal-state.ts";
import { InputChangedError, InputError } from "../../bulk/import/table/input-file.ts";
import { countOutcomes } from "../../bulk/import/journal/outcome.ts";
import { openRecordedOutcomes } from "../../bulk/import/journal/recorded-outcomes.ts";
import { failedCsv, resultsCsv } from "../../bulk/import/journal/results.ts";
import { MissingRowsError, sendRows } from "../../bulk/import/send-rows.ts";
import { replaceFile } from "../../runtime/files/file-replacement.ts";
import type { Connection, Deps } from "../kit/deps.ts";
import { describeRetries } from "../kit/notes.ts";
import { createProgress } from "../kit/progress.ts";
import { BegunError, InterruptedError } from "../errors/command-errors.ts";
import { CommandError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { timeFormatterFor } from "../render/time.ts";
import { type CheckedFile, choicesOf } from "./import-request.ts";
import { planRun } from "./plan/plan-run.ts";
import { askWithPlan, chooseRows, writeForecast } from "./plan/plan.ts";
import { describeUnchanged, findPreviousRun } from "./previous-run.ts";
import type { RunFiles } from "./run-files.ts";
import { type Ending, type ResultsState, resumeCommand, writeNothingToDo, writeSummary } from "./summary.ts";

interface ReadyToSend extends CheckedFile {
  readonly files: RunFiles;
  readonly connection: Connection;
  readonly startedAt: number;
}

export async function sendChecked(checked: ReadyToSend): Promise<ExitCode> {
  const { deps, request, table, files, connection } = checked;
  connection.client.checkMayWrite();
  const head = await describeRun(checked);
  const chosen = chooseRows(checked);
  const { before, carried, isUnchanged } = await findPreviousRun({ files, head, request, source: chosen });
  if (isUnchanged)
    return await writeNothingToDo(deps, request, files.results, describeUnchanged(request, before, files));
  const run = await planRun(checked, connection, { ...chosen, before });
  await writeForecast(checked, run, connection.client);
  await askWithPlan(checked, run);
  await table.input.verify();
  const sentBy = await lastSendingAt(checked, before);
  if (carried !== null) await replaceFile(files.journal, carried.text(), deps.random.token(6), { isAlone: true });
  const journal = await openJournal(files.journal, before.length, deps.clock);
  const began = deps.clock.monotonic();
  deps.lastWords(`To resume: ${resumeCommand(deps.commandLine, ["--resume"])}\n`);
  try {
    if (before.head === null) await journal.write({ head });
    const sent = await send(checked, { ...run.source, before, journal, sentBy, spreadOver: chosen.rows });
    // Returns the error instead of throwing it, so that the summary is printed even if the disk is full.
    const { results, error } = await writeResults(checked);
    const stoppedBy = sent.stoppedBy ?? error;
    return await conclude(checked, { ...sent, stoppedBy, results }, deps.clock.monotonic() - began);
  } finally {
    deps.lastWords(null);
    await journal.close();
  }
}

async function describeRun(checked: ReadyToSend): Promise<JournalHead> {
  const { deps, request, table, report, connection, startedAt } = checked;
  return {
    format: 2,
    input: table.input.sha256 ?? "",
    file: request.input,
    rows: report.rows,
    command: request.command,
    choices: choicesOf(deps, request),
    baseUrl: connection.place,
    key: await connection.keyFingerprint(),
    at: startedAt,
  };
}

interface RunParts extends RowSource {
  readonly journal: Journal;
  readonly sentBy: number;
  readonly spreadOver: number;
}

const GRACE_MS = 5000;

async function send(
  { deps, request, report, connection: { client } }: ReadyToSend,
  { spreadOver, ...run }: RunParts,
): Promise<Omit<Sent, "results">> {
  const inFlight = new AbortController();
  const grace = new AbortController();
  const sender = request.createSender(client, inFlight.signal, spreadOver);
  const progress = createProgress(deps, "rows");
  progress.expect(report.rows);
  const stop = (): void => {
    const giveUp = (): void => inFlight.abort(deps.signal.reason);
    deps.clock.sleep(GRACE_MS, grace.signal).then(giveUp, () => undefined);
    void progress.end().then(() => writeWaiting(deps));
  };
  deps.signal.addEventListener("abort", stop, { once: true });
  try {
    const sent = await sendRows({
      ...run,
      sender,
      rows: report.rows,
      clock: deps.clock,
      retryUnknown: request.flags.retryUnknown,
      concurrency: deps.options.concurrency,
      signal: deps.signal,
      onDone: (rows, earlier) => void progress.update(rows, earlier),
    });
    return { ...sent, remarks: sender.remarks() };
  } finally {
    grace.abort();
    deps.signal.removeEventListener("abort", stop);
    await progress.end();
  }
}

async function writeWaiting({ streams, options, signal }: Deps): Promise<void> {
  if (options.quiet || !(signal.reason instanceof InterruptedError)) return;
  await streams.err.write("Waiting for the requests in flight (5 s at most); interrupt again to stop at once\n");
}

/** A killed run may have sent requests for up to this long after its last journal entry. */
const SILENCE_SECONDS = 600;

/** The time by which earlier runs had certainly stopped sending, by the service's clock. */
async function lastSendingAt({ deps, files, connection }: ReadyToSend, before: JournalState): Promise<number> {
  const { client } = connection;
  if (before.stoppedAt !== null || before.head === null) return before.stoppedAt ?? client.serverNow();
  const idleSeconds = (deps.clock.now() - (await stat(files.journal)).mtimeMs) / 1000;
  return Math.floor(client.serverNow() - Math.max(0, idleSeconds - SILENCE_SECONDS));
}

async function writeResults(checked: ReadyToSend): Promise<{ results: ResultsState; error: unknown }> {
  let results: ResultsState = "missing";
  try {
    const found = await stat(checked.files.results).catch(() => null);
    if (found?.isFile() === true) results = "outdated";
    await replaceResults(checked, () => (results = "written"));
    return { results, error: null };
  } catch (error) {
    return { results, error };
  }
}

async function replaceResults({ deps, request, table, files }: ReadyToSend, onResults: () => void): Promise<void> {
  const time = timeFormatterFor(deps, "iso");
  const outcomes = await openRecordedOutcomes(files.journal);
  try {
    const csv = resultsCsv(outcomes, time);
    await replaceFile(files.results, csv, deps.random.token(6), { isAlone: true });
    onResults();
    const { failedTo } = request.flags;
    if (failedTo === null) return;
    await replaceFile(failedTo, failedCsv(table, outcomes), deps.random.token(6));
  } finally {
    await outcomes.close();
  }
}

type Sent = Omit<Ending, "remaining" | "elapsedMs" | "retries">;

async function conclude(checked: ReadyToSend, sent: Sent, elapsedMs: number): Promise<ExitCode> {
  const { deps, request, report, files, connection } = checked;
  const { counts, stoppedBy } = sent;
  await writeSummary(deps, request, files.results, {
    ...sent,
    remaining: report.rows - countOutcomes(counts),
    elapsedMs,
    retries: describeRetries(connection),
  });
  if (stoppedBy instanceof InterruptedError) return stoppedBy.exit;
  if (stoppedBy !== null) throw toStopError(stoppedBy, checked);
  return counts.failed + counts.unknown > 0 ? EXIT.partial : EXIT.done;
}

function toStopError(error: unknown, { deps, table }: ReadyToSend): unknown {
  // The file passed the checks before sending, so it must have changed since.
  const changed = error instanceof InputError ? new InputChangedError(table.input.name) : error;
  if (changed instanceof InputChangedError) {
    const hint = "the rows that were sent are in the results; put the file back as it was to resume";
    return new CommandError("input_changed", changed.message, EXIT.failed, { hint, cause: error });
  }
  if (error instanceof MissingRowsError)
    return new CommandError("rows_missing", error.message, EXIT.failed, { cause: error });
  return deps.signal.aborted ? error : new BegunError(error);
}

/** The half of an import that touches the service: journal, send, record, report. */
import { countSendable, type CheckReport } from "../../bulk/import/check/check.ts";
import { openJournal, type Journal } from "../../bulk/import/journal/journal.ts";
import type { JournalHead } from "../../bulk/import/journal/journal-entry.ts";
import type { JobOptions } from "../../bulk/import/journal/job-source.ts";
import type { ImportTable } from "../../bulk/import/table/open-table.ts";
import { countOutcomes } from "../../bulk/import/journal/outcome.ts";
import { openRecordedOutcomes } from "../../bulk/import/journal/recorded-outcomes.ts";
import { failedCsv, resultsCsv } from "../../bulk/import/journal/results.ts";
import { sendRows, type SendReport } from "../../bulk/import/send-rows.ts";
import type { Client } from "../../client/client.ts";
import { ROUTES } from "../../contract/routes.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { replaceFile } from "../../runtime/file-replacement.ts";
import { CONCURRENCY_DEFAULT } from "../args/global-options.ts";
import type { Deps } from "../command/deps.ts";
import { exitOfSignal, InterruptedError } from "../errors/interrupted-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { createTimeFormatter } from "../render/time.ts";
import { writeNote } from "../command/notes.ts";
import { createProgress } from "../command/progress.ts";
import { askWithPlan } from "./guard.ts";
import type { ImportRequest } from "./import-request.ts";
import type { InputSource } from "./input-source.ts";
import { findFormerRun, type RecordFiles } from "./record.ts";
import { resumeCommand, writeSummary } from "./summary.ts";
import { readSuppressed } from "./suppressed.ts";

/** A file that has been checked, and all that sending it needs. */
export interface Checked {
  readonly deps: Deps;
  readonly request: ImportRequest;
  readonly source: InputSource;
  readonly table: ImportTable;
  readonly report: CheckReport;
  readonly files: RecordFiles;
  readonly client: Client;
  /** What is told of the connection, the same from run to run: a base URL, or the data file of the profile `local`. */
  readonly place: string;
}

/** Throws UsageError when a former run stands in the way or the plan is declined, and what stopped the run. */
export async function sendChecked(checked: Checked): Promise<ExitCode> {
  const { deps, request, source, table, report, files, client, place } = checked;
  const head: JournalHead = { format: 1, input: await source.hash(), command: fingerprint(request), baseUrl: place };
  const before = await findFormerRun(files, head, request);
  if (request.flags.resume && before.head === null)
    await writeNote(deps, `no former run is recorded in ${files.journal}; this one begins with the first row`);
  // One harmless call: a refused key shows before anything is recorded, and the service's clock becomes known.
  await client.page({ route: ROUTES.listPeople, parameters: { per_page: 1 }, signal: deps.signal });
  const suppressed = request.skipSuppressed ? await readSuppressed(client, deps.signal) : () => null;
  const jobs: JobOptions = { table, before, skip: (row) => report.duplicates.reasonFor(row.line) ?? suppressed(row) };
  await askWithPlan(deps, request, place, jobs);
  const journal = await openJournal(files.journal, before.length, deps.clock);
  const began = deps.clock.monotonic();
  try {
    if (before.head === null) await journal.write({ head });
    const sent = await send(checked, jobs, journal);
    // A disk that is full keeps the results from being written too; what was done and how to go on is told all the same.
    const unwritten: unknown = await writeResults(checked).then(
      () => null,
      (error: unknown) => error,
    );
    return await conclude(checked, { ...sent, stoppedBy: sent.stoppedBy ?? unwritten }, deps.clock.monotonic() - began);
  } finally {
    await journal.close();
  }
}

/** A stopped run lets what is in flight end, but not for ever. */
const GRACE_MS = 5000;

async function send(
  { deps, request, report, client }: Checked,
  jobs: JobOptions,
  journal: Journal,
): Promise<SendReport> {
  const inFlight = new AbortController();
  const grace = new AbortController();
  const stop = (): void => {
    const giveUp = (): void => inFlight.abort(deps.signal.reason);
    deps.clock.sleep(GRACE_MS, grace.signal).then(giveUp, () => undefined);
  };
  deps.signal.addEventListener("abort", stop, { once: true });
  const progress = createProgress(deps, "rows", false);
  progress.expect(report.rows);
  try {
    return await sendRows({
      ...jobs,
      journal,
      sender: request.createSender(client, inFlight.signal, countSendable(report)),
      retryUnknown: request.flags.retryUnknown,
      concurrency: deps.options.concurrency ?? CONCURRENCY_DEFAULT,
      signal: deps.signal,
      onOutcome: (counts) => void progress.update(countOutcomes(counts)),
    });
  } finally {
    grace.abort();
    deps.signal.removeEventListener("abort", stop);
    await progress.end();
  }
}

async function writeResults({ deps, request, table, files }: Checked): Promise<void> {
  const time = createTimeFormatter({
    format: deps.options.time ?? "iso",
    zone: deps.options.timeZone,
    now: unixSeconds(deps.clock),
  });
  const outcomes = await openRecordedOutcomes(files.journal);
  try {
    await replaceFile(files.results, resultsCsv(outcomes, time), deps.random.token(6));
    const { failedTo } = request.flags;
    if (failedTo !== null) await replaceFile(failedTo, failedCsv(table, outcomes), deps.random.token(6));
  } finally {
    await outcomes.close();
  }
}

async function conclude(
  { deps, request, report, files }: Checked,
  { counts, settledBefore, stoppedBy }: SendReport,
  elapsedMs: number,
): Promise<ExitCode> {
  const goOn = stoppedBy === null ? ["--resume", "--retry-unknown"] : ["--resume"];
  const resume = stoppedBy === null && counts.unknown === 0 ? null : resumeCommand(deps.commandLine, goOn);
  await writeSummary(deps, request, files, {
    counts,
    settledBefore,
    pending: report.rows - countOutcomes(counts),
    elapsedMs,
    resume,
  });
  if (stoppedBy instanceof InterruptedError) return exitOfSignal(stoppedBy.signal);
  if (stoppedBy !== null) throw stoppedBy as Error;
  return counts.failed + counts.unknown > 0 ? EXIT.partial : EXIT.done;
}

/** What must be the same for a run to go on: anything that changes requests or which rows are sent. */
function fingerprint({ command, defaults, flags, spreadSeconds }: ImportRequest): string {
  const { renames, ignored, properties, onDuplicate, delimiter } = flags;
  return JSON.stringify([command, defaults, spreadSeconds, renames, ignored, properties, onDuplicate, delimiter]);
}

/** One pipeline for every bulk import: read, check, guard, journal, send, record, report (design: "Bulk import"). */
import { checkTable, type CheckReport } from "../../../bulk/import/check.ts";
import { InputError } from "../../../bulk/import/input-error.ts";
import { openJournal, type Journal, type JournalHead } from "../../../bulk/import/journal.ts";
import { readJournal, type JournalState } from "../../../bulk/import/journal-state.ts";
import { openTable, type ImportTable } from "../../../bulk/import/open-table.ts";
import { OUTCOMES, type OutcomeCounts } from "../../../bulk/import/outcome.ts";
import { failedCsv, resultsCsv } from "../../../bulk/import/results.ts";
import { sendRows, type SendReport } from "../../../bulk/import/send-rows.ts";
import type { Client } from "../../../client/client.ts";
import { ROUTES } from "../../../contract/routes.ts";
import { unixSeconds } from "../../../runtime/clock.ts";
import { openReplacement } from "../../../runtime/file-replacement.ts";
import { readDuration } from "../../args/duration.ts";
import { suggest } from "../../args/suggest.ts";
import { readTimeOrNull } from "../../args/time.ts";
import { CONCURRENCY_DEFAULT } from "../../deps/connect.ts";
import type { Deps } from "../../deps.ts";
import { exitOfSignal, InterruptedError } from "../../errors/interrupted-error.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { createTimeFormatter } from "../../render/time.ts";
import { createProgress } from "../progress.ts";
import { writeNote, writeWarning } from "../notes.ts";
import { withClient } from "../with-client.ts";
import { showPlannedRequests } from "./dry-run-import.ts";
import { explainLine } from "./explain.ts";
import { askWithPlan, checkDecided, countRow, type PlanCounts } from "./guard.ts";
import type { ImportRequest } from "./import-request.ts";
import { openInput, type InputSource } from "./input-source.ts";
import { findFormerRun, lockRecord, recordFiles, type RecordFiles } from "./record.ts";
import { resumeCommand, writeSummary } from "./summary.ts";
import { readSuppressed, type SuppressionList } from "./suppressed.ts";

/** Throws UsageError for everything that is wrong before the first request; nothing was sent then. */
export async function runImport(deps: Deps, request: ImportRequest): Promise<ExitCode> {
  const quiet = deps.options.dryRun || request.flags.explain !== null;
  const files = quiet ? null : recordFiles(request);
  const source = await openInput(deps, request.input, request.flags.delimiter);
  try {
    return await importFrom(deps, request, source, files);
  } catch (error) {
    if (error instanceof InputError)
      throw new UsageError(error.message, { ...(error.hint !== null && { hint: error.hint }), cause: error });
    throw error;
  } finally {
    await source.close();
  }
}

async function importFrom(deps: Deps, request: ImportRequest, source: InputSource, files: RecordFiles | null): Promise<ExitCode> {
  const table = await openImportTable(deps, request, source);
  if (request.flags.explain !== null) return explainLine(deps, table, request, request.flags.explain);
  for (const note of table.mapping.notes) await writeNote(deps, note);
  if (files !== null) checkDecided(deps, table, request);
  const plan: PlanCounts = { email: 0, sms: 0, quiet: 0 };
  const report = await check(deps, table, request, plan);
  if (files === null) return showPlannedRequests(deps, table, request, report);
  const lock = await lockRecord(files, deps);
  try {
    return await withClient(deps, (client) => sendChecked({ deps, request, source, table, report, files, client, plan }));
  } finally {
    await lock.release();
  }
}

function openImportTable({ clock, options }: Deps, { kind, flags, defaults }: ImportRequest, source: InputSource): Promise<ImportTable> {
  const context = { now: unixSeconds(clock), zone: options.timeZone };
  return openTable(source.file, {
    kind,
    defaults,
    properties: flags.properties,
    readers: { duration: readDuration, time: (text) => readTimeOrNull(text, context) },
    header: { renames: flags.renames, ignored: flags.ignored, suggest },
  });
}

/** Lists every problem; throws UsageError when there are any and `--skip-invalid` does not leave them out. */
async function check(deps: Deps, table: ImportTable, request: ImportRequest, plan: PlanCounts): Promise<CheckReport> {
  const { onDuplicate, maxErrors, skipInvalid } = request.flags;
  const unique = request.kind.name !== "responses";
  const report = await checkTable(table, { onDuplicate, unique, maxErrors, onRow: (values) => countRow(plan, values) });
  for (const problem of report.problems) await deps.streams.err.write(`${problem}\n`);
  const more = report.problemCount - report.problems.length;
  if (more > 0) await deps.streams.err.write(`and ${more} more; --max-errors N lists more\n`);
  if (report.duplicates.size > 0 && onDuplicate === null) {
    await writeWarning(
      deps,
      `${report.duplicates.size} of ${report.rows} rows name a person who stands in the file already; the first row of each is used`,
    );
  }
  if (report.invalidRows === 0) return report;
  const found = `${report.invalidRows} of ${report.rows} rows are invalid`;
  if (!skipInvalid)
    throw new UsageError(`${table.input.name}: ${found}; nothing was sent`, {
      hint: "correct them, or leave them out with --skip-invalid",
    });
  await writeWarning(deps, `${found} and left out`);
  return report;
}

interface Checked {
  readonly deps: Deps;
  readonly request: ImportRequest;
  readonly source: InputSource;
  readonly table: ImportTable;
  readonly report: CheckReport;
  readonly files: RecordFiles;
  readonly client: Client;
  readonly plan: PlanCounts;
}

async function sendChecked(checked: Checked): Promise<ExitCode> {
  const { deps, request, source, report, files, client, plan } = checked;
  const head: JournalHead = { format: 1, input: await source.hash(), command: fingerprint(request), baseUrl: client.baseUrl };
  const before = await findFormerRun(files, head, request);
  await askWithPlan(deps, request, client.baseUrl, report, plan);
  // One harmless call: a refused key shows before anything is recorded, and the service's clock becomes known.
  await client.page({ route: ROUTES.listPeople, parameters: { per_page: 1 }, signal: deps.signal });
  const suppressed = request.skipSuppressed ? await readSuppressed(client, deps.signal) : () => null;
  const journal = await openJournal(files.journal, before.length);
  const began = deps.clock.monotonic();
  try {
    if (before.head === null) await journal.write({ head });
    const sent = await send(checked, { before, journal, suppressed });
    await writeResults(checked);
    return await conclude(checked, sent, deps.clock.monotonic() - began);
  } finally {
    await journal.close();
  }
}

interface Sending {
  readonly before: JournalState;
  readonly journal: Journal;
  readonly suppressed: SuppressionList;
}

/** A stopped run lets what is in flight end, but not for ever. */
const GRACE_MS = 5000;

async function send({ deps, request, table, report, client }: Checked, { before, journal, suppressed }: Sending): Promise<SendReport> {
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
      table,
      journal,
      before,
      sender: request.createSender(client, inFlight.signal, report.rows - report.invalidRows - report.duplicates.size),
      skip: (row) => report.duplicates.reasonFor(row.line) ?? suppressed(row),
      retryUnknown: request.flags.retryUnknown,
      concurrency: deps.options.concurrency ?? CONCURRENCY_DEFAULT,
      signal: deps.signal,
      onOutcome: (counts) => void progress.update(total(counts)),
    });
  } finally {
    grace.abort();
    deps.signal.removeEventListener("abort", stop);
    await progress.end();
  }
}

async function writeResults({ deps, request, table, files }: Checked): Promise<void> {
  const state = await readJournal(files.journal);
  const time = createTimeFormatter({ format: deps.options.time ?? "iso", zone: deps.options.timeZone, now: unixSeconds(deps.clock) });
  await writeWhole(files.results, resultsCsv(table, files.journal, state, time), deps.random.token(6));
  const { failedTo } = request.flags;
  if (failedTo !== null) await writeWhole(failedTo, failedCsv(table, files.journal, state), deps.random.token(6));
}

async function writeWhole(file: string, pieces: AsyncIterable<string>, token: string): Promise<void> {
  const replacement = await openReplacement(file, token);
  try {
    for await (const piece of pieces) await replacement.write(Buffer.from(piece));
    await replacement.commit();
  } catch (error) {
    await replacement.discard();
    throw error;
  }
}

async function conclude(
  { deps, request, report, files }: Checked,
  { counts, stoppedBy }: SendReport,
  elapsedMs: number,
): Promise<ExitCode> {
  const resume = stoppedBy === null && counts.unknown === 0 ? null : resumeCommand(deps.commandLine);
  const hint = resume === null || stoppedBy !== null ? resume : `${resume} --retry-unknown`;
  await writeSummary(deps, request, files, { counts, pending: report.rows - total(counts), elapsedMs, resume: hint });
  if (stoppedBy instanceof InterruptedError) return exitOfSignal(stoppedBy.signal);
  if (stoppedBy !== null) throw stoppedBy as Error;
  return counts.failed + counts.unknown > 0 ? EXIT.partial : EXIT.done;
}

function total(counts: OutcomeCounts): number {
  return OUTCOMES.reduce((sum, name) => sum + counts[name], 0);
}

/** What must be the same for a run to go on: anything that changes requests or which rows are sent. */
function fingerprint({ command, defaults, flags, spreadSeconds }: ImportRequest): string {
  const { renames, ignored, properties, onDuplicate, delimiter } = flags;
  return JSON.stringify([command, defaults, spreadSeconds, renames, ignored, properties, onDuplicate, delimiter]);
}

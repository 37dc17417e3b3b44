/** One pipeline for every bulk import: read, check, guard, journal, send, record, report (design: "Bulk import"). */
import { checkTable, type CheckReport } from "../../bulk/import/check/check.ts";
import { InputError } from "../../bulk/import/table/input-error.ts";
import { openTable, type ImportTable } from "../../bulk/import/table/open-table.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { readDuration } from "../args/duration.ts";
import { suggest } from "../args/suggest.ts";
import { readTimeOrNull } from "../args/time.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import type { ExitCode } from "../exit-codes.ts";
import { writeNote, writeWarning } from "../command/notes.ts";
import { localeWarning } from "../command/survey-properties.ts";
import { withClient } from "../command/with-client.ts";
import { showPlannedRequests } from "./dry-run-import.ts";
import { explainLine } from "./explain.ts";
import { checkDecided } from "./guard.ts";
import { checkOptions, type ImportRequest } from "./import-request.ts";
import { openInput, type InputSource } from "./input-source.ts";
import { checkTargets, lockRecord, recordFiles, type RecordFiles } from "./record.ts";
import { sendChecked } from "./send-checked.ts";

/** Throws UsageError for everything that is wrong before the first request; nothing was sent then. */
export async function runImport(deps: Deps, request: ImportRequest): Promise<ExitCode> {
  const quiet = deps.options.dryRun || request.flags.explain !== null;
  const files = quiet ? null : await recordFiles(request);
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

async function importFrom(
  deps: Deps,
  request: ImportRequest,
  source: InputSource,
  files: RecordFiles | null,
): Promise<ExitCode> {
  const table = await openImportTable(deps, request, source);
  try {
    return await importTable(deps, request, source, table, files);
  } finally {
    await table.close();
  }
}

async function importTable(
  deps: Deps,
  request: ImportRequest,
  source: InputSource,
  table: ImportTable,
  files: RecordFiles | null,
): Promise<ExitCode> {
  if (request.flags.explain !== null) return explainLine(deps, table, request, request.flags.explain);
  for (const note of table.mapping.notes) await writeNote(deps, note);
  if (files !== null) checkDecided(deps, table, request);
  const report = await check(deps, table, request);
  if (files === null) return showPlannedRequests(deps, table, request, report);
  await checkTargets(deps, request, files);
  const lock = await lockRecord(files, deps);
  try {
    return await withClient(deps, (client, { account }) =>
      sendChecked({ deps, request, source, table, report, files, client, place: account?.place ?? client.baseUrl }),
    );
  } finally {
    await lock.release();
  }
}

function openImportTable(
  { clock, options }: Deps,
  { kind, flags, defaults }: ImportRequest,
  source: InputSource,
): Promise<ImportTable> {
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
async function check(deps: Deps, table: ImportTable, request: ImportRequest): Promise<CheckReport> {
  const { onDuplicate, skipInvalid } = request.flags;
  const report = await checkTable(table, checkOptions(deps, request));
  for (const problem of report.problems) await deps.streams.err.write(`${problem}\n`);
  const more = report.problemCount - report.problems.length;
  if (more > 0) await deps.streams.err.write(`and ${more} more; --max-errors N lists more\n`);
  if (report.broken !== null) throw report.broken;
  if (request.kind.properties === "properties") await warnOfLocales(deps, table, request, report);
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

async function warnOfLocales(
  deps: Deps,
  { input }: ImportTable,
  { flags }: ImportRequest,
  { oddLocales }: CheckReport,
): Promise<void> {
  const ofFlag = localeWarning(flags.properties, "--property");
  if (ofFlag !== null) await writeWarning(deps, ofFlag);
  for (const { locale, line, rows } of oddLocales) {
    const warning = localeWarning({ locale }, `${input.name}:${line}: locale`);
    await writeWarning(deps, `${warning}${rows > 1 ? ` (${rows} rows)` : ""}`);
  }
}

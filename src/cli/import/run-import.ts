/** One pipeline for every bulk import: read, check, ask, journal, send, record, report. */
import { checkTable } from "../../bulk/import/check/check.ts";
import { InputChangedError, InputError, type InputFile } from "../../bulk/import/table/input-file.ts";
import { type ImportTable, openTable } from "../../bulk/import/table/open-table.ts";
import { MissingRowsError } from "../../bulk/import/send-rows.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { readDuration } from "../args/values.ts";
import { suggest } from "../args/suggest.ts";
import { readTimeOrNull } from "../args/time.ts";
import { type Deps, withClient } from "../command/deps.ts";
import { ImportStoppedError } from "../errors/command-errors.ts";
import type { ExitCode } from "../exit-codes.ts";
import { explainLine } from "./explain.ts";
import { checkOptions, type ImportRequest } from "./import-request.ts";
import { openInput } from "./input-source.ts";
import { checkConsent, showPlannedRequests } from "./plan.ts";
import { asUsageError, reportCheck, writeHeaderNotes } from "./problems.ts";
import { checkTargets, lockRecord, recordFiles, type RecordFiles } from "./record.ts";
import { sendChecked } from "./send-checked.ts";

/** Throws UsageError for everything that is wrong before the first request; nothing was sent then. */
export async function runImport(deps: Deps, request: ImportRequest): Promise<ExitCode> {
  const isOnlyShown = deps.options.dryRun || request.flags.explain !== null;
  const files = isOnlyShown ? null : await recordFiles(request);
  const input = await openInput(deps, request.input, request.flags.delimiter);
  try {
    return await importFrom(deps, request, input, files);
  } catch (error) {
    throw asCliError(error);
  } finally {
    await input.close();
  }
}

function asCliError(error: unknown): unknown {
  if (error instanceof InputError) return asUsageError(error);
  if (error instanceof InputChangedError) {
    const hint = "the rows that were sent are in the results; put the file back as it was to resume";
    return new ImportStoppedError("input_changed", error.message, { hint, cause: error });
  }
  return error instanceof MissingRowsError
    ? new ImportStoppedError("rows_missing", error.message, { cause: error })
    : error;
}

async function importFrom(
  deps: Deps,
  request: ImportRequest,
  input: InputFile,
  files: RecordFiles | null,
): Promise<ExitCode> {
  const table = await openImportTable(deps, request, input);
  try {
    return await importTable(deps, request, table, files);
  } finally {
    await table.close();
  }
}

async function importTable(
  deps: Deps,
  request: ImportRequest,
  table: ImportTable,
  files: RecordFiles | null,
): Promise<ExitCode> {
  if (request.flags.explain !== null) return explainLine(deps, table, request, request.flags.explain);
  await writeHeaderNotes(deps, table);
  if (files !== null) checkConsent(deps, table, request);
  const report = await checkTable(table, checkOptions(deps, request));
  await reportCheck(deps, table, request, report);
  if (files === null) return showPlannedRequests(deps, table, request, report);
  await checkTargets(deps, request, files);
  const lock = await lockRecord(files, deps);
  try {
    return await withClient(deps, (client, connection) =>
      sendChecked({ deps, request, table, report, files, client, connection }),
    );
  } finally {
    await lock.release();
  }
}

function openImportTable(
  { clock, options }: Deps,
  { kind, flags, defaults, overrides }: ImportRequest,
  input: InputFile,
): Promise<ImportTable> {
  const context = { now: unixSeconds(clock), zone: options.timeZone };
  return openTable(input, {
    kind,
    defaults,
    overrides,
    properties: flags.properties,
    readers: { duration: readDuration, time: (text) => readTimeOrNull(text, context) },
    header: { renames: flags.renames, ignored: flags.ignored, suggest },
  });
}

/** The pipeline of every bulk import: read, check, ask, journal, send, record, report. */
import { InputChangedError, InputError, type InputFile, NoRowsError } from "../../bulk/import/table/input-file.ts";
import { isEncoding } from "../../bulk/import/table/encoding.ts";
import { type ImportTable, openTable } from "../../bulk/import/table/open-table.ts";
import { noOutcomes } from "../../bulk/import/journal/outcome.ts";
import { readJournal } from "../../bulk/import/journal/journal-state.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { DAY_SECONDS } from "../../runtime/zone.ts";
import { suggest } from "../args/suggest.ts";
import { badValue } from "../args/values.ts";
import { readDelayOrNull, readTimeOrNull } from "../args/time.ts";
import { type Deps, withClient } from "../kit/deps.ts";
import { CommandError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { explainLine } from "./explain.ts";
import { checkFile, type ImportRequest, type OpenedFile } from "./import-request.ts";
import { openInput } from "./input-source.ts";
import { showDryRun } from "./plan/dry-run.ts";
import { checkConsent } from "./plan/plan.ts";
import { isOtherService } from "./plan/plan-run.ts";
import { askForMapping, writeHeaderNotes } from "./mapping.ts";
import { asUsageError, reportCheck } from "./problems.ts";
import { checkTargets, lockRun, runFiles, type RunFiles } from "./run-files.ts";
import { sendChecked } from "./send-checked.ts";
import { writeNothingToDo } from "./summary.ts";

export async function runImport(deps: Deps, request: ImportRequest): Promise<ExitCode> {
  const isOnlyShown = deps.options.dryRun || request.flags.explain !== null;
  const files = isOnlyShown ? null : await runFiles(request);
  const { delimiter, encoding } = request.flags;
  if (encoding !== null && !isEncoding(encoding)) throw badValue("--encoding", encoding, ENCODING_FORM);
  const input = await openInput(deps, request.input, { delimiter, encoding });
  try {
    return await importFrom(deps, request, input, files);
  } catch (error) {
    if (!(error instanceof NoRowsError)) throw asCliError(error);
    const note = `${error.message}; nothing was sent`;
    return await writeNothingToDo(deps, request, "", { note, counts: noOutcomes() });
  } finally {
    await input.close();
  }
}

const ENCODING_FORM = "an encoding that is known, such as windows-1252, utf-16, shift_jis or gb18030";

function asCliError(error: unknown): unknown {
  if (error instanceof InputError) return asUsageError(error, true);
  if (!(error instanceof InputChangedError)) return error;
  const hint = "nothing was sent; run it again";
  return new CommandError("input_changed", error.message, EXIT.failed, { hint, cause: error });
}

async function importFrom(
  deps: Deps,
  request: ImportRequest,
  input: InputFile,
  files: RunFiles | null,
): Promise<ExitCode> {
  const startedAt = unixSeconds(deps.clock);
  const wordsAt = (await previousStart(request, files)) ?? startedAt;
  const openAs = async (mapped: Omit<OpenedFile, "table">): Promise<OpenedFile> => ({
    ...mapped,
    table: await openImportTable(mapped, input, startedAt, wordsAt),
  });
  const opened = await openAs({ deps, request }).catch(async (error: unknown) =>
    openAs(await askForMapping(deps, request, error)),
  );
  return importTable(opened, files, startedAt);
}

/** When a run is resumed, "tomorrow" means the same day as in the first run. */
async function previousStart({ flags }: ImportRequest, files: RunFiles | null): Promise<number | null> {
  if (files === null || !flags.resume) return null;
  const { head, ended } = await readJournal(files.journal);
  return ended ? null : (head?.at ?? null);
}

async function importTable(opened: OpenedFile, files: RunFiles | null, startedAt: number): Promise<ExitCode> {
  const { deps, request, table } = opened;
  if (request.flags.explain !== null) return explainLine(opened, request.flags.explain);
  await writeHeaderNotes(opened);
  if (files !== null) checkConsent(opened);
  let report = await checkFile(opened);
  if (report.overOwnLimits > 0 && (await isOtherService(deps))) {
    table.liftOwnLimits();
    report = await checkFile(opened);
  }
  const checked = { ...opened, report };
  await reportCheck(checked);
  if (files === null) return showDryRun(checked);
  if (report.rows === 0) throw new NoRowsError(`${table.input.name} has no rows below the header`);
  await checkTargets(deps, request, files);
  const lock = await lockRun(files, deps);
  try {
    return await withClient(deps, (_, connection) => sendChecked({ ...checked, files, connection, startedAt }));
  } finally {
    await lock.release();
  }
}

function openImportTable(
  { deps, request }: Omit<OpenedFile, "table">,
  input: InputFile,
  startedAt: number,
  wordsAt: number,
): Promise<ImportTable> {
  const { kind, flags, defaults = {}, overrides = {} } = request;
  const context = { now: wordsAt, zone: deps.options.timeZone };
  return openTable(input, {
    kind,
    defaults,
    overrides,
    properties: flags.properties,
    readers: {
      delay: (text) => readDelayOrNull(text, context, startedAt),
      time: (text) => readTimeOrNull(text, context),
      latestTime: startedAt + DAY_SECONDS,
    },
    header: { renames: flags.renames, ignored: flags.ignored, suggest },
  });
}

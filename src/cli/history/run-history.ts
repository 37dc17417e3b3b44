import { systemUser } from "../../runtime/files/processes.ts";
import { InputChangedError, InputError } from "../../bulk/import/table/input-file.ts";
import { unixSeconds } from "../../runtime/clock.ts";
import { isSameFile, openReplacement, type FileReplacement } from "../../runtime/files/file-replacement.ts";
import type { ConflictPolicy } from "../../service/domain/history/import-people.ts";
import type { Store } from "../../service/domain/ports.ts";
import { requireProject } from "../../service/domain/projects/projects.ts";
import type { ShapeChoice } from "../../service/history/columns.ts";
import type { Deps } from "../kit/deps.ts";
import { createProgress } from "../kit/progress.ts";
import { AssertionError, InterruptedError } from "../errors/command-errors.ts";
import { openEngine, TEMPORARY } from "../../service/store/sqlite/engine/engine.ts";
import { CommandError, UsageError } from "../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import { asUsageError } from "../importing/problems.ts";
import { findSources, type HistorySource } from "./sources.ts";
import { storeRows, type StoredRows } from "./store-rows.ts";
import {
  failedExpectations,
  type HistoryExpectation,
  HistoryProblems,
  writeMapping,
  writeHistorySummary,
} from "./summary.ts";
import { type HistoryProblem, type HistoryReading, type HistorySurvey, surveySources } from "./survey-sources.ts";

export interface HistoryRequest extends ShapeChoice, Pick<HistoryReading, "unknown"> {
  readonly paths: readonly string[];
  readonly project: string;
  readonly check: boolean;
  readonly onConflict: ConflictPolicy;
  /** `now` marks stored responses as changed, for clients that read by `updated_since`. */
  readonly updatedAt: "keep" | "now";
  readonly webhooks: boolean;
  readonly expectations: readonly HistoryExpectation[];
  readonly report: string | null;
}

export async function runHistoryImport(
  deps: Deps,
  request: HistoryRequest,
  withStore: (work: (store: Store) => Promise<ExitCode>) => Promise<ExitCode>,
): Promise<ExitCode> {
  const report = request.report === null ? null : await openReplacement(request.report, deps.random.token(6));
  try {
    const exit = request.check
      ? await importHistoryFiles(deps, request, null, report)
      : await withStore((store) => importHistoryFiles(deps, request, store, report));
    await report?.commit();
    return exit;
  } catch (error) {
    await report?.discard();
    if (error instanceof InputError) throw asUsageError(error);
    if (error instanceof InputChangedError)
      throw new CommandError("input_changed", error.message, EXIT.failed, { hint: AGAIN, cause: error });
    if (error instanceof InterruptedError && !request.check) throw new InterruptedError(error.signal, AGAIN);
    throw error;
  }
}

const AGAIN = "run it again: rows that were stored are not stored twice";

async function importHistoryFiles(
  deps: Deps,
  request: HistoryRequest,
  store: Store | null,
  report: FileReplacement | null,
): Promise<ExitCode> {
  await store?.read((tx) => requireProject(tx, request.project));
  const { format, stream, renames, unknown, onConflict, updatedAt, webhooks, project } = request;
  const shared = { zone: deps.options.timeZone, now: unixSeconds(deps.clock), signal: deps.signal };
  const reading: HistoryReading = { format, stream, renames, unknown, ...shared };
  const problems = new HistoryProblems();
  const onProblem = (problem: HistoryProblem): void => problems.add(problem);
  const progress = createProgress(deps, "rows");
  const onRows = async (rows: number): Promise<void> => {
    await report?.write(Buffer.from(problems.takeLines()));
    await progress.update(rows);
  };
  const sources = await findSources(deps, request.paths);
  const database = await openEngine(TEMPORARY);
  try {
    await refuseReport(sources, request.report);
    const survey = await surveySources(sources, reading, { onProblem, onRows, database });
    await progress.end();
    if (store === null) await writeMapping(deps, survey);
    const failures = failedExpectations(survey, request.expectations);
    const stored =
      store !== null && failures.length === 0
        ? await storeRows({ store, project, onConflict, updatedAt, webhooks, survey, reading, onProblem, onRows })
        : null;
    if (store !== null && stored !== null) await noteImport(store, project);
    await progress.end();
    await report?.write(Buffer.from(problems.takeLines()));
    await writeHistorySummary(deps, survey, stored, problems, reading);
    if (failures.length > 0) throw new AssertionError(failures);
    return countRefused(survey, stored) > 0 ? EXIT.partial : EXIT.done;
  } finally {
    await progress.end();
    database.close();
    for (const source of sources) await source.close();
  }
}

async function noteImport(store: Store, name: string): Promise<void> {
  const { noteWhole } = await import("../../service/domain/operation-log/operation-log.ts");
  const project = await store.read((tx) => requireProject(tx, name));
  await store.write((tx) => noteWhole(tx, "import", systemUser(), project), { project: project.id });
}

async function refuseReport(sources: readonly HistorySource[], report: string | null): Promise<void> {
  if (report === null) return;
  for (const { name } of sources)
    if (await isSameFile(name, report))
      throw new UsageError(`--report: ${report} is one of the files to import; name another file`);
}

function countRefused({ tally }: HistorySurvey, stored: StoredRows | null): number {
  const later = [...(stored?.streams.values() ?? [])].reduce((sum, { refused }) => sum + refused, 0);
  return [...tally.streams.values()].reduce((sum, { refused }) => sum + refused, later);
}

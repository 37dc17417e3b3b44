/** Reads an export's rows into its output. */
import path from "node:path";
import { tmpdir } from "node:os";
import { runExport, runFlattened, type ExportJob, type ExportTotals } from "../../bulk/export/run-export.ts";
import type { RowPage } from "../../bulk/export/lists.ts";
import type { VersionLog } from "../../bulk/export/versions.ts";
import { openScratchFile } from "../../runtime/scratch-file.ts";
import { createCount, type Beside } from "./count.ts";
import type { Increment } from "./increment.ts";
import { createPageEncoder } from "./plan.ts";
import type { FlatColumns } from "./request.ts";
import type { OpenedExport } from "./opened.ts";
import { createWalks } from "./walks.ts";

export interface ReadRows {
  readonly totals: ExportTotals;
  /** The service's own count; null when it has none for these rows, or does not tell. */
  readonly counted: Promise<number | null>;
  /** What the next run will have to know; null when there is none. */
  readonly log: VersionLog | null;
}

export async function readRows(
  opened: OpenedExport,
  increment: Increment,
  { progress, ended }: Beside,
): Promise<ReadRows> {
  const { deps, request, flags, plan, output } = opened;
  const asked = AbortSignal.any([deps.signal, ended]);
  const count = createCount(opened, increment, { progress, ended: asked });
  const { walks, startedAt } = createWalks(opened, increment, { count, asked });
  const log = increment.openLog(startedAt);
  const job: Omit<ExportJob, "encoder"> = {
    walks,
    log,
    sink: output.sink,
    onRows: (rows) => progress.update(rows),
    signal: deps.signal,
  };
  const header = increment.keptBytes === 0;
  const totals =
    flags.flatten && request.flat !== null
      ? await flatten(opened, job, request.flat)
      : await runExport({ ...job, encoder: createPageEncoder(deps, plan, flags, header) });
  return { totals, counted: count.result(), log };
}

async function flatten(
  { deps, flags, plan }: OpenedExport,
  job: Omit<ExportJob, "encoder">,
  flat: FlatColumns,
): Promise<ExportTotals> {
  const scratch = await openScratchFile(plan.file === null ? tmpdir() : path.dirname(plan.file), deps.random.token(6));
  const find = ({ rows }: RowPage): readonly string[] => [...new Set(rows.flatMap((row) => flat.find(row)))];
  const encoderFor = (found: readonly string[]): ExportJob["encoder"] => {
    const columns = plan.columns ?? [];
    // Those that --columns names already stay where they stand.
    const named = new Set(columns.map(({ name }) => name));
    const added = found.map((name) => flat.column(name)).filter(({ name }) => !named.has(name));
    return createPageEncoder(deps, { ...plan, columns: [...columns, ...added] }, flags, true);
  };
  try {
    return await runFlattened({ ...job, scratch, find, encoderFor });
  } finally {
    await scratch.close();
  }
}

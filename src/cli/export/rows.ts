import path from "node:path";
import { tmpdir } from "node:os";
import { type ExportJob, type Growth, runExport, type SelectedList } from "../../bulk/export/run-export.ts";
import { widenCsv, widenTsv } from "../../bulk/export/widen.ts";
import type { JsonObject } from "../../contract/json.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { openScratchFile } from "../../runtime/files/scratch-file.ts";
import type { Increment, OpenedExport } from "./increment.ts";
import { pathColumn } from "../render/columns.ts";
import { isJson } from "../render/encoders.ts";
import { createPageEncoder } from "./plan.ts";
import type { ExportSource, FlatColumns } from "./request.ts";
import { type Count, createCount, createSnapshot } from "./snapshot.ts";
import type { Progress } from "../kit/progress.ts";

/** Aborting `ended` cancels requests that the export doesn't depend on, such as the row count. */
export async function readRows(opened: OpenedExport, increment: Increment, progress: Progress, ended: AbortSignal) {
  const { deps, request, flags, plan, output } = opened;
  const signal = AbortSignal.any([deps.signal, ended]);
  const count = createCount(opened, increment, progress, signal);
  const first: Asking["first"] = { mayGrow: null };
  const { lists, startedAt } = createReadings(opened, increment, { count, signal, first });
  const log = increment.openLog(startedAt);
  const header = output.oldBytes === 0 || !flags.append;
  const job: ExportJob = {
    lists,
    log,
    encoder: createPageEncoder(deps, plan, { header }),
    sink: output.sink,
    filterPage: request.shaping?.filterPage ?? null,
    rewrite: request.shaping?.rewrite ?? null,
    isCounted: request.count?.isCounted ?? null,
    onRows: (rows) => progress.update(rows),
    signal: deps.signal,
  };
  const flat = flatColumns(opened);
  const mayCome = (): boolean => flags.flatten || first.mayGrow === true;
  const totals = await runExport(job, flat === null ? null : toGrowth(opened, flat, mayCome));
  return { totals, counted: count.result(totals.counted), log };
}

function flatColumns({ deps, request, flags, plan }: OpenedExport): FlatColumns | null {
  if (flags.flatten) return request.flat;
  const { found } = request.resource;
  const isFixed = flags.append || isJson(plan.format) || deps.options.columns !== null;
  if (isFixed || found === undefined) return null;
  return {
    find: (row) => found.in([row]).map(({ name }) => name),
    column: (name) => found.named(name) ?? pathColumn(name),
  };
}

function toGrowth({ deps, plan }: OpenedExport, flat: FlatColumns, mayCome: Growth["mayCome"]): Growth {
  const columns = plan.columns ?? [];
  const named = new Set(columns.map(({ name }) => name));
  return {
    mayCome,
    openScratch: () => openScratchFile(plan.file === null ? tmpdir() : path.dirname(plan.file), deps.random.token(6)),
    find: ({ rows }) =>
      [...new Set(rows.flatMap((row) => flat.find(row)))].filter((name) => !named.has(flat.column(name).name)),
    encoderFor: (found) =>
      createPageEncoder(deps, { ...plan, columns: [...columns, ...found.map((name) => flat.column(name))] }),
    widen: plan.format === "csv" ? widenCsv : plan.format === "tsv" ? widenTsv : null,
  };
}

interface Asking {
  readonly count: Count;
  readonly signal: AbortSignal;
  readonly first: { mayGrow: boolean | null };
}

function createReadings(opened: OpenedExport, increment: Increment, asking: Asking) {
  const { source, unstamped, keep } = increment;
  if (unstamped === null) {
    const only = toReading(opened, increment, asking, source, keep);
    return { lists: [only], startedAt: only.startedAt };
  }
  let isListed = false;
  const first = toReading(opened, increment, asking, source, (row) => {
    isListed ||= unstamped.has(row);
    return keep?.(row) ?? true;
  });
  const isWanted = (row: JsonObject): boolean => unstamped.has(row) && (keep?.(row) ?? true);
  const second = toReading(opened, increment, asking, unstamped.source, isWanted);
  // If the first list contains any unstamped rows, it contains all of them, so the second list isn't needed.
  return { lists: [first, { ...second, isWanted: () => !isListed }], startedAt: first.startedAt };
}

function toReading(
  { deps, connection, flags, request }: OpenedExport,
  { checkClock }: Increment,
  { count, signal, first: seen }: Asking,
  source: ExportSource,
  keep: SelectedList["keep"],
): SelectedList & { readonly startedAt: () => number } {
  const perPage = flags.perPage ?? PER_PAGE_MAX;
  const list = source.list(connection.client, perPage);
  const { startedAt, fixUntil } = createSnapshot(list, source, deps.clock, signal);
  const isRewritten = (request.shaping?.rewrite ?? null) !== null;
  return {
    list,
    keys: source.keys,
    range: source.range,
    perPage,
    concurrency: isRewritten ? 1 : deps.options.concurrency,
    async fixUntil(first, isWhole) {
      checkClock(first.serverTime);
      seen.mayGrow ??= first.hasAnswers === true || (request.resource.found?.in(first.rows) ?? []).length > 0;
      const until = await fixUntil(first, isWhole);
      count.begin(until);
      return until;
    },
    signal: deps.signal,
    keep,
    isWanted: () => true,
    startedAt,
  };
}

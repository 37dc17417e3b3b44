import path from "node:path";
import { tmpdir } from "node:os";
import {
  runExport,
  runGrowing,
  type ExportJob,
  type ExportTotals,
  type Growth,
  type SelectedList,
} from "../../bulk/export/run-export.ts";
import { widenCsv, widenTsv } from "../../bulk/export/widen.ts";
import type { VersionLog } from "../../bulk/export/versions.ts";
import { PER_PAGE_MAX } from "../../contract/limits.ts";
import { openScratchFile } from "../../runtime/files/scratch-file.ts";
import type { Increment, OpenedExport } from "./increment.ts";
import { pathColumn } from "../render/columns.ts";
import { createPageEncoder } from "./plan.ts";
import type { ExportSource, FlatColumns } from "./request.ts";
import {
  createCount,
  createSnapshot,
  type Background,
  type Count,
  type CountRange,
  type Snapshot,
} from "./snapshot.ts";

export interface ReadRows {
  readonly totals: ExportTotals;
  readonly counted: Promise<CountRange | null>;
  readonly log: VersionLog | null;
}

export async function readRows(
  opened: OpenedExport,
  increment: Increment,
  { progress, ended }: Background,
): Promise<ReadRows> {
  const { deps, request, flags, plan, output } = opened;
  const asked = AbortSignal.any([deps.signal, ended]);
  const count = createCount(opened, increment, { progress, ended: asked });
  const first: { mayGrow: boolean | null } = { mayGrow: null };
  const { lists, startedAt } = createReadings(opened, increment, { count, asked, first });
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
  const totals =
    flat === null
      ? await runExport(job)
      : await runGrowing(
          job,
          toGrowth(opened, flat, () => flags.flatten || first.mayGrow === true),
        );
  return { totals, counted: count.result(totals.counted), log };
}

/** Null if the columns are fixed. */
function flatColumns({ deps, request, flags, plan }: OpenedExport): FlatColumns | null {
  if (flags.flatten) return request.flat;
  const { found } = request.resource;
  const isFixed = flags.append || (plan.format !== "csv" && plan.format !== "tsv") || deps.options.columns !== null;
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
    find: ({ rows }) => [...new Set(rows.flatMap((row) => flat.find(row)))].filter((name) => !named.has(name)),
    encoderFor: (found) =>
      createPageEncoder(deps, { ...plan, columns: [...columns, ...found.map((name) => flat.column(name))] }),
    widen: plan.format === "csv" ? widenCsv : widenTsv,
  };
}

interface Readings {
  readonly lists: readonly SelectedList[];
  readonly startedAt: () => number;
}

interface Asking {
  readonly count: Count;
  /** Cancels optional requests. */
  readonly asked: AbortSignal;
  /** Set by the first page: rows may bring columns. */
  readonly first: { mayGrow: boolean | null };
}

function createReadings(opened: OpenedExport, increment: Increment, asking: Asking): Readings {
  const { source, unstamped, keep, checkClock } = increment;
  const snapshot = openSnapshot(opened, source, asking);
  if (unstamped === null)
    return {
      lists: [toReading(opened, source, { ...asking, snapshot, keep, checkClock })],
      startedAt: snapshot.startedAt,
    };
  let isListed = false;
  const watch: SelectedList["keep"] = (row) => {
    isListed ||= unstamped.has(row);
    return keep?.(row) ?? true;
  };
  const first = toReading(opened, source, { ...asking, snapshot, checkClock, keep: watch });
  const second = toReading(opened, unstamped.source, {
    ...asking,
    checkClock,
    snapshot: openSnapshot(opened, unstamped.source, asking),
    keep: (row) => unstamped.has(row) && (keep?.(row) ?? true),
  });
  // If one of them was listed, the service lists all.
  return { lists: [first, { ...second, isWanted: () => !isListed }], startedAt: snapshot.startedAt };
}

interface ReadingParts extends Asking, Pick<SelectedList, "keep">, Pick<Increment, "checkClock"> {
  readonly snapshot: Snapshot;
}

function toReading(
  { deps, connection, flags, request }: OpenedExport,
  source: ExportSource,
  { snapshot, count, keep, checkClock, first: seen }: ReadingParts,
): SelectedList {
  const perPage = flags.perPage ?? PER_PAGE_MAX;
  const isRewritten = (request.shaping?.rewrite ?? null) !== null;
  return {
    list: source.list(connection.client, perPage),
    keys: source.keys,
    range: source.range,
    perPage,
    concurrency: isRewritten ? 1 : deps.options.concurrency,
    async fixUntil(first, isWhole) {
      checkClock(first.serverTime);
      seen.mayGrow ??= first.hasAnswers === true || (request.resource.found?.in(first.rows) ?? []).length > 0;
      const until = await snapshot.fixUntil(first, isWhole);
      count.begin(until);
      return until;
    },
    signal: deps.signal,
    keep,
    isWanted: () => true,
  };
}

function openSnapshot(
  { deps, connection, flags }: OpenedExport,
  { list, keys, range }: ExportSource,
  { asked }: Asking,
): Snapshot {
  const perPage = flags.perPage ?? PER_PAGE_MAX;
  return createSnapshot({
    list: list(connection.client, perPage),
    keys,
    range,
    clock: deps.clock,
    signal: asked,
  });
}

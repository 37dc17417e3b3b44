/** Reads an export's rows into its output. */
import path from "node:path";
import { tmpdir } from "node:os";
import { runExport, runFlattened, type ExportJob, type ExportTotals } from "../../../bulk/export/run-export.ts";
import type { FetchedPage, RowPage } from "../../../bulk/export/lists.ts";
import { PER_PAGE_MAX } from "../../../contract/limits.ts";
import { openScratchFile } from "../../../runtime/scratch-file.ts";
import { CONCURRENCY_DEFAULT } from "../../args/global-options.ts";
import type { Increment } from "./export-increment.ts";
import { createPageEncoder } from "./export-plan.ts";
import type { Progress } from "../progress.ts";
import type { FlatColumns } from "./export-request.ts";
import type { OpenedExport } from "./export-opened.ts";
import { createSnapshot } from "./export-snapshot.ts";

export interface ReadRows {
  readonly totals: ExportTotals;
  /** The service's own count; null when it has none for these rows, or does not tell. */
  readonly counted: Promise<number | null>;
  /** The service's time when the run began, Unix seconds. */
  readonly startedAt: number;
}

/** What goes on beside the rows: progress, and requests that end with the run. */
export interface Beside {
  readonly progress: Progress;
  readonly ended: AbortSignal;
}

export async function readRows(opened: OpenedExport, increment: Increment, { progress, ended }: Beside): Promise<ReadRows> {
  const { deps, request, flags, plan, output, connection } = opened;
  const { source } = increment;
  const { client } = connection;
  const asked = AbortSignal.any([deps.signal, ended]);
  const { keys, range } = source;
  const perPage = flags.perPage ?? PER_PAGE_MAX;
  const list = source.list(client, perPage);
  const snapshot = createSnapshot({ list, keys, range, perPage, clock: deps.clock, signal: asked });
  const count = createCount(opened, increment, { progress, ended: asked });
  const job: Omit<ExportJob, "encoder"> = {
    walk: {
      list,
      keys,
      range,
      perPage,
      concurrency: deps.options.concurrency ?? CONCURRENCY_DEFAULT,
      async fixUntil(first) {
        const until = await snapshot.fixUntil(first);
        count.begin(first, until);
        return until;
      },
      expectedRows: () => count.known(),
      signal: deps.signal,
    },
    batches: { keep: increment.keep, versionsOf: (page) => increment.versionsOf(page, snapshot.startedAt()) },
    sink: output.sink,
    onRows: (rows) => progress.update(rows),
  };
  const header = increment.keptBytes === 0;
  const totals =
    flags.flatten && request.flat !== null
      ? await flatten(opened, job, request.flat)
      : await runExport({ ...job, encoder: createPageEncoder(deps, plan, flags, header) });
  return { totals, counted: count.result(), startedAt: snapshot.startedAt() };
}

async function flatten({ deps, flags, plan }: OpenedExport, job: Omit<ExportJob, "encoder">, flat: FlatColumns): Promise<ExportTotals> {
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

interface Count {
  begin(first: FetchedPage, until: number): void;
  known(): number | null;
  result(): Promise<number | null>;
}

function createCount({ request, connection }: OpenedExport, { isWhole, source }: Increment, { progress, ended }: Beside): Count {
  let asked: Promise<number | null> = Promise.resolve(null);
  let known: number | null = null;
  return {
    begin(first, until) {
      const since = source.range.since ?? firstTime(first, source);
      if (!isWhole || request.count === null || since === null) return;
      asked = orNull(request.count(connection.client, { since, until }, ended)).then((rows) => {
        known = rows;
        if (rows !== null) progress.expect(rows);
        return rows;
      });
    },
    known: () => known,
    result: () => asked,
  };
}

/** A bound that every row has: some services count only the last month when they are given none. */
function firstTime({ rows: [row] }: FetchedPage, { keys }: Increment["source"]): number | null {
  return row === undefined ? null : keys.at(row);
}

/** What is only good to know must not fail the export. */
async function orNull(work: Promise<number | null> | undefined): Promise<number | null> {
  try {
    return (await work) ?? null;
  } catch {
    return null;
  }
}

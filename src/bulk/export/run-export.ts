import { keepRows, type PageEncoder, type RowPage } from "../../contract/row-page.ts";
import type { ScratchFile } from "../../runtime/files/scratch-file.ts";
import type { TextSink } from "./byte-sink.ts";
import type { RowKeys } from "./lists.ts";
import { readList, type ListRequest } from "./read-list.ts";
import type { Widen } from "./widen.ts";
import { NO_VERSIONS, type VersionLog, type Versions } from "./versions.ts";

interface Batch {
  /** UTF-8 bytes, because the garbage collector would copy thousands of waiting strings again and again. */
  readonly bytes: Uint8Array;
  readonly rows: number;
  readonly counted: number;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  readonly versions: Versions;
  /** Set if the page has new columns; it is then encoded when it is written. */
  readonly wide: { readonly page: RowPage; readonly found: readonly string[] } | null;
}

export interface SelectedList extends Omit<ListRequest<Batch>, "toBatch"> {
  readonly keep: ((row: RowPage["rows"][number]) => boolean) | null;
  readonly isWanted: () => boolean;
}

export interface ExportJob {
  readonly lists: readonly SelectedList[];
  readonly log: VersionLog | null;
  readonly encoder: PageEncoder;
  readonly sink: TextSink;
  /** Null keeps all rows. In the export's state, dropped rows still count as seen. */
  readonly filterPage: ((page: RowPage) => RowPage) | null;
  readonly rewrite: ((page: RowPage) => RowPage) | null;
  /** Whether the service's own total includes the row; null if it includes every row. */
  readonly isCounted: ((row: RowPage["rows"][number]) => boolean) | null;
  readonly onRows: (rows: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Columns are discovered in the rows. Encoded rows wait on disk until no more columns can appear. */
export interface Growth {
  readonly mayCome: () => boolean;
  readonly openScratch: () => Promise<ScratchFile>;
  readonly find: (page: RowPage) => readonly string[];
  /** Returns an encoder that appends the found columns in this order. */
  readonly encoderFor: (found: readonly string[]) => PageEncoder;
  /** Null if the format allows rows with fewer cells than columns. */
  readonly widen: Widen | null;
}

export interface ExportTotals {
  readonly rows: number;
  readonly counted: number;
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

/**
 * Leaves the sink open. With `growth`, each row is encoded once, with the columns known by then. New columns come last,
 * so earlier rows only need empty cells appended when they are copied from the scratch file.
 */
export async function runExport(job: ExportJob, growth: Growth | null): Promise<ExportTotals> {
  const { sink, signal } = job;
  const found: string[] = [];
  const runs: Run[] = [];
  let encoder = job.encoder;
  let scratch: ScratchFile | null = null;
  let written = 0;
  const find: Growth["find"] = (page) => (growth?.mayCome() === true ? growth.find(page) : []);
  try {
    const totals = await consume(job, find, async ({ bytes, rows, wide }) => {
      if (growth?.mayCome() !== true) {
        await sink.write(written === 0 ? job.encoder.head : job.encoder.between);
        await sink.write(bytes);
        written += rows;
        return;
      }
      const more = (wide?.found ?? []).filter((name) => !found.includes(name));
      found.push(...more);
      if (more.length > 0) encoder = growth.encoderFor(found);
      scratch ??= await growth.openScratch();
      const line = wide === null ? bytes : Buffer.from(encoder.rows(wide.page));
      await scratch.write(line);
      noteRun(runs, { bytes: line.length, found: wide === null ? 0 : found.length });
    });
    if (written === 0) await sink.write(encoder.head);
    if (growth !== null && scratch !== null)
      await copyWidened(scratch, runs, { ...growth, width: found.length, sink, signal });
    await sink.write(encoder.tail(totals.rows));
    return totals;
  } finally {
    await (scratch as ScratchFile | null)?.close();
  }
}

/** Consecutive rows in the scratch file with the same columns. */
interface Run {
  bytes: number;
  readonly found: number;
}

function noteRun(runs: Run[], run: Run): void {
  const last = runs.at(-1);
  if (last?.found === run.found) last.bytes += run.bytes;
  else runs.push(run);
}

async function copyWidened(
  scratch: ScratchFile,
  runs: readonly Run[],
  {
    widen,
    width,
    sink,
    signal,
  }: Pick<Growth, "widen"> & Pick<ExportJob, "sink" | "signal"> & { readonly width: number },
): Promise<void> {
  let start = 0;
  for (const { bytes, found } of runs) {
    const addCells = found === width ? null : (widen?.(width - found) ?? null);
    for await (const chunk of scratch.read(start, bytes)) {
      signal.throwIfAborted();
      await sink.write(addCells === null ? Buffer.from(chunk) : addCells(chunk));
    }
    start += bytes;
  }
}

async function consume(
  job: ExportJob,
  find: Growth["find"],
  take: (batch: Batch) => Promise<void>,
): Promise<ExportTotals> {
  const totals = { rows: 0, counted: 0, firstAt: null as number | null, lastAt: null as number | null };
  for (const list of job.lists) {
    if (!list.isWanted()) continue;
    for await (const batch of readList({ ...list, toBatch: (page) => makeBatch(job, list, find, page) })) {
      job.log?.note(batch.versions);
      if (batch.rows === 0) continue;
      totals.rows += batch.rows;
      totals.counted += batch.counted;
      totals.firstAt = earlier(totals.firstAt, batch.firstAt);
      totals.lastAt = later(totals.lastAt, batch.lastAt);
      await take(batch);
      await job.onRows(totals.rows);
    }
  }
  return totals;
}

function makeBatch(
  { encoder, log, filterPage, rewrite, isCounted }: ExportJob,
  { keep, keys }: SelectedList,
  find: Growth["find"],
  page: RowPage,
): Batch {
  const seen = keep === null ? page : keepRows(page, keep);
  const kept = filterPage === null ? seen : filterPage(seen);
  const { firstAt, lastAt } = timeSpan(kept, keys);
  const written = rewrite === null || kept.rows.length === 0 ? kept : rewrite(kept);
  const found = find(written);
  const wide = found.length === 0 ? null : { page: written, found };
  const bytes = Buffer.from(kept.rows.length === 0 || wide !== null ? "" : encoder.rows(written));
  const counted = isCounted === null ? kept.rows.length : kept.rows.filter(isCounted).length;
  const versions = log?.find(seen) ?? NO_VERSIONS;
  return { bytes, rows: kept.rows.length, counted, firstAt, lastAt, versions, wide };
}

function timeSpan({ rows }: RowPage, keys: RowKeys): Pick<Batch, "firstAt" | "lastAt"> {
  let firstAt: number | null = null;
  let lastAt: number | null = null;
  for (const row of rows) {
    const at = keys.at(row);
    firstAt = earlier(firstAt, at);
    lastAt = later(lastAt, at);
  }
  return { firstAt, lastAt };
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b < a) ? b : a;
}

function later(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a;
}

/** One export from the list to the sink: rows in order, each once, with bounded memory. */
import { keepRows, type RowPage } from "../../contract/row-page.ts";
import type { ScratchFile } from "../../runtime/files/scratch-file.ts";
import type { TextSink } from "./byte-sink.ts";
import type { RowKeys } from "./lists.ts";
import { readList, type ListReading } from "./read-list.ts";
import type { Widen } from "./widen.ts";
import { NO_VERSIONS, type VersionLog, type Versions } from "./versions.ts";

/** Pages to text. `between` separates two pages' texts. */
export interface PageEncoder {
  readonly head: string;
  readonly between: string;
  readonly rows: (page: RowPage) => string;
  /** The end of the output, after so many rows. */
  readonly tail: (rows: number) => string;
}

/** The part of a page that is kept until its turn comes: its text, and the facts for the report and the state. */
interface Batch {
  /**
   * Its rows as UTF-8, empty without any. Bytes and not text: they are outside the garbage-collected heap, where text
   * of a thousand chunks would be copied again and again while it waits.
   */
  readonly bytes: Uint8Array;
  readonly rows: number;
  /** As `ExportTotals` has it. */
  readonly counted: number;
  /** Unix seconds; null when no row has a time. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
  /** The versions that the next incremental run needs. */
  readonly versions: Versions;
  /** A page that brings columns, which is encoded when its turn comes; null once encoded. */
  readonly wide: { readonly page: RowPage; readonly found: readonly string[] } | null;
}

interface BatchMaker
  extends Pick<ExportReading, "keys" | "keep">, Pick<ExportJob, "filterPage" | "rewrite" | "isCounted"> {
  readonly encode: (page: RowPage) => string;
  readonly versionsOf: (page: RowPage) => Versions;
  readonly find: (page: RowPage) => readonly string[];
}

/** A list that is read, and which of its rows are written. */
export interface ExportReading extends Omit<ListReading<Batch>, "toBatch"> {
  /** True for a row that is written at all; null: every row. */
  readonly keep: ((row: RowPage["rows"][number]) => boolean) | null;
  /** Asked when its turn comes. */
  readonly isWanted: () => boolean;
}

export interface ExportJob {
  /** One after the other. */
  readonly readings: readonly ExportReading[];
  /** The log that the next run needs; null when there is no state. */
  readonly log: VersionLog | null;
  readonly encoder: PageEncoder;
  readonly sink: TextSink;
  /** The rows that are written; null: all. A row that is left out counts as seen. */
  readonly filterPage: ((page: RowPage) => RowPage) | null;
  /** Other values for the same rows; null: as they came. */
  readonly rewrite: ((page: RowPage) => RowPage) | null;
  /** True for a row that the service's own count has; null: every row. */
  readonly isCounted: ((row: RowPage["rows"][number]) => boolean) | null;
  /** Called after each batch with the number of rows so far. */
  readonly onRows: (rows: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Columns that only the rows bring. While more may come, encoded rows wait on disk. */
export interface Growth {
  /** Asked from the first page on. */
  readonly mayCome: () => boolean;
  readonly openScratch: () => Promise<ScratchFile>;
  /** Names of a page's own columns, in order. */
  readonly find: (page: RowPage) => readonly string[];
  /** The columns found so far come last, in this order. */
  readonly encoderFor: (found: readonly string[]) => PageEncoder;
  readonly widen: Widen;
}

export interface ExportTotals {
  readonly rows: number;
  /** Those of them that the service's own count has. */
  readonly counted: number;
  /** Earliest and latest time of a row, Unix seconds; null when none has one. */
  readonly firstAt: number | null;
  readonly lastAt: number | null;
}

/** Writes everything to the sink, which stays open. */
export async function runExport(job: ExportJob): Promise<ExportTotals> {
  const { encoder, sink } = job;
  let written = 0;
  await sink.write(encoder.head);
  const totals = await consume(job, { encode: encoder.rows, find: () => [] }, async (batch) => {
    if (written > 0) await sink.write(encoder.between);
    await sink.write(batch.bytes);
    written += batch.rows;
  });
  await sink.write(encoder.tail(written));
  return totals;
}

/**
 * The same with a column more for each name that is found. Each row is encoded once, with the columns found by then; as
 * new ones come last, rows before them only need empty cells at their end when they are copied from the scratch file.
 */
export async function runGrowing(job: ExportJob, growth: Growth): Promise<ExportTotals> {
  const { sink, signal } = job;
  const found: string[] = [];
  const runs: Run[] = [];
  let encoder = job.encoder;
  let scratch: ScratchFile | null = null;
  let written = 0;
  const maker = {
    encode: job.encoder.rows,
    find: (page: RowPage) => (growth.mayCome() ? growth.find(page) : []),
  };
  try {
    const totals = await consume(job, maker, async ({ bytes, rows, wide }) => {
      if (!growth.mayCome()) {
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
    if (scratch !== null) await copyWidened(scratch, runs, { ...growth, width: found.length, sink, signal });
    await sink.write(encoder.tail(totals.rows));
    return totals;
  } finally {
    await (scratch as ScratchFile | null)?.close();
  }
}

/** Bytes in the scratch file whose rows have cells for as many of the found columns. */
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
    const addCells = found === width ? null : widen(width - found);
    for await (const chunk of scratch.read(start, bytes)) {
      signal.throwIfAborted();
      await sink.write(addCells === null ? Buffer.from(chunk) : addCells(chunk));
    }
    start += bytes;
  }
}

async function consume(
  job: Omit<ExportJob, "encoder">,
  maker: Pick<BatchMaker, "encode" | "find">,
  take: (batch: Batch) => Promise<void>,
): Promise<ExportTotals> {
  const totals = { rows: 0, counted: 0, firstAt: null as number | null, lastAt: null as number | null };
  for await (const batch of readBatches(job, maker)) {
    job.log?.note(batch.versions);
    if (batch.rows === 0) continue;
    totals.rows += batch.rows;
    totals.counted += batch.counted;
    totals.firstAt = earlier(totals.firstAt, batch.firstAt);
    totals.lastAt = later(totals.lastAt, batch.lastAt);
    await take(batch);
    await job.onRows(totals.rows);
  }
  return totals;
}

async function* readBatches(
  { readings, log, filterPage, rewrite, isCounted }: Omit<ExportJob, "encoder">,
  maker: Pick<BatchMaker, "encode" | "find">,
): AsyncGenerator<Batch> {
  const versionsOf = (page: RowPage): Versions => log?.find(page) ?? NO_VERSIONS;
  for (const reading of readings) {
    if (!reading.isWanted()) continue;
    const toBatch = (page: RowPage): Batch =>
      makeBatch({ ...maker, versionsOf, filterPage, rewrite, isCounted, keep: reading.keep, keys: reading.keys }, page);
    yield* readList({ ...reading, toBatch });
  }
}

function makeBatch(
  { keys, encode, keep, filterPage, rewrite, isCounted, versionsOf, find }: BatchMaker,
  page: RowPage,
): Batch {
  const seen = keep === null ? page : keepRows(page, keep);
  const kept = filterPage === null ? seen : filterPage(seen);
  const { firstAt, lastAt } = spanOf(kept, keys);
  const written = rewrite === null || kept.rows.length === 0 ? kept : rewrite(kept);
  const found = find(written);
  const wide = found.length === 0 ? null : { page: written, found };
  const bytes = Buffer.from(kept.rows.length === 0 || wide !== null ? "" : encode(written));
  const counted = isCounted === null ? kept.rows.length : kept.rows.filter(isCounted).length;
  return { bytes, rows: kept.rows.length, counted, firstAt, lastAt, versions: versionsOf(seen), wide };
}

function spanOf({ rows }: RowPage, keys: RowKeys): Pick<Batch, "firstAt" | "lastAt"> {
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

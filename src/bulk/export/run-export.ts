/** One export from the list to the sink: rows in order, each once, with bounded memory. */
import type { ScratchFile } from "../../runtime/scratch-file.ts";
import { createYoungHeapLimit } from "../../runtime/young-heap.ts";
import { makeBatch, type Batch, type BatchMaker } from "./batches.ts";
import type { TextSink } from "./byte-sink.ts";
import { walkList, type ListWalk } from "./list-walk.ts";
import type { RowPage } from "./lists.ts";
import type { VersionLog } from "./versions.ts";

/** Pages to text. `between` stands between two pages' texts. */
export interface PageEncoder {
  readonly head: string;
  readonly between: string;
  readonly rows: (page: RowPage) => string;
  /** What stands at the end, after so many rows. */
  readonly tail: (rows: number) => string;
}

/** A list that is read, and which of its rows are written. */
export interface ExportWalk extends Omit<ListWalk<Batch>, "digest">, Pick<BatchMaker, "keep"> {
  /** Asked when its turn comes. */
  readonly isWanted: () => boolean;
}

export interface ExportJob {
  /** One after the other. */
  readonly walks: readonly ExportWalk[];
  /** What the next run will have to know; null when there is none. */
  readonly log: VersionLog | null;
  readonly encoder: PageEncoder;
  readonly sink: TextSink;
  /** Told after each batch how many rows there are by now. */
  readonly onRows: (rows: number) => Promise<void>;
  readonly signal: AbortSignal;
}

/** Rows that wait on disk until every column is known. */
export interface FlattenJob extends Omit<ExportJob, "encoder"> {
  readonly scratch: ScratchFile;
  /** What a page holds that becomes columns, as names in the order in which they stand. */
  readonly find: (page: RowPage) => readonly string[];
  readonly encoderFor: (found: readonly string[]) => PageEncoder;
}

export interface ExportTotals {
  readonly rows: number;
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

/** The same with one more column for each name that `find` finds, which takes a second pass over what was put aside. */
export async function runFlattened(job: FlattenJob): Promise<ExportTotals> {
  const { scratch, sink, find, encoderFor } = job;
  const found = new Set<string>();
  const totals = await consume(job, { encode: toLine, find }, async (batch) => {
    for (const name of batch.found) found.add(name);
    await scratch.write(batch.bytes);
  });
  const encoder = encoderFor([...found]);
  await sink.write(encoder.head);
  for await (const text of scratch.lines()) {
    job.signal.throwIfAborted();
    await sink.write(encoder.rows({ rows: JSON.parse(text) as RowPage["rows"], text }));
  }
  await sink.write(encoder.tail(totals.rows));
  return totals;
}

/** Line ends in JSON text only stand between tokens. */
function toLine({ text }: RowPage): string {
  return `${text.replace(/[\r\n]+/g, " ")}\n`;
}

async function consume(
  job: Omit<ExportJob, "encoder">,
  maker: Pick<BatchMaker, "encode" | "find">,
  take: (batch: Batch) => Promise<void>,
): Promise<ExportTotals> {
  const totals = { rows: 0, firstAt: null as number | null, lastAt: null as number | null };
  const limitHeap = createYoungHeapLimit();
  for await (const batch of readWalks(job, maker)) {
    limitHeap();
    job.log?.note(batch.versions);
    if (batch.rows === 0) continue;
    totals.rows += batch.rows;
    totals.firstAt = earlier(totals.firstAt, batch.firstAt);
    totals.lastAt = later(totals.lastAt, batch.lastAt);
    await take(batch);
    await job.onRows(totals.rows);
  }
  return totals;
}

async function* readWalks(
  { walks, log }: Omit<ExportJob, "encoder">,
  maker: Pick<BatchMaker, "encode" | "find">,
): AsyncGenerator<Batch> {
  const versionsOf = (page: RowPage): Batch["versions"] => log?.find(page) ?? [];
  for (const walk of walks) {
    if (!walk.isWanted()) continue;
    const digest = (page: RowPage): Batch =>
      makeBatch({ ...maker, versionsOf, keep: walk.keep, keys: walk.keys }, page);
    yield* walkList({ ...walk, digest });
  }
}

function earlier(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b < a) ? b : a;
}

function later(a: number | null, b: number | null): number | null {
  return a === null || (b !== null && b > a) ? b : a;
}

/** Sends what is left of a checked table: bounded, journalled, and stoppable at any moment. */
import { decideRows, type Job, type JobOptions } from "./journal/job-source.ts";
import type { Journal } from "./journal/journal.ts";
import { noOutcomes, type OutcomeCounts, type RowOutcome } from "./journal/outcome.ts";
import type { ImportRow } from "./check/row-kind.ts";

/** How a row that a former run may have sent is settled. */
export type Settled =
  | { readonly kind: "arrived"; readonly outcome: RowOutcome }
  | { readonly kind: "absent" }
  | { readonly kind: "unsettled"; readonly reason: string };

export interface LookUpContext {
  /** Unix seconds by the service's clock. */
  readonly intentAt: number;
  /** Among the rows that are sent, from 0. */
  readonly position: number;
}

export interface SendContext extends LookUpContext {
  /** When a former run may have sent it; null when none can have. */
  readonly meantAt: number | null;
}

export interface Sender {
  /**
   * Sends one row. Rejects only for what concerns every row (a refused key, a dead network): the run then stops taking
   * rows, and this one has no outcome and certainly did not arrive. When the signal stopped it, it may have arrived.
   */
  send(row: ImportRow, options: SendContext): Promise<RowOutcome>;
  /** Whether a row that was meant at `intentAt` arrived. Rejects as `send` does. */
  lookUp(row: ImportRow, options: LookUpContext): Promise<Settled>;
  /** What is unknown once is never sent again without a word, whatever a later look-up says. */
  readonly unknownNeedsWord: boolean;
  /** A repeat of this row's request changes nothing more. */
  isIdempotent(row: ImportRow): boolean;
  /** Unix seconds by the service's clock. */
  serverNow(): number;
}

export interface SendOptions extends JobOptions {
  readonly sender: Sender;
  readonly journal: Journal;
  /** Rows that stay unknown after a look-up are sent again. */
  readonly retryUnknown: boolean;
  readonly concurrency: number;
  /** Aborted: no further rows are taken; those in flight end. */
  readonly signal: AbortSignal;
  /** Called when an outcome is on disk, those of former runs included. */
  readonly onOutcome: (counts: OutcomeCounts) => void;
}

export interface SendReport {
  /** Of former runs too. Rows without an outcome are not among them: the run stopped before them. */
  readonly counts: OutcomeCounts;
  /** How many of them former runs had settled. */
  readonly settledBefore: number;
  /** What stopped it; null when every row has an outcome. */
  readonly stoppedBy: unknown;
}

/** Rows whose intents share one sync, for each worker. */
const AHEAD = 8;

interface Run {
  readonly counts: OutcomeCounts;
  readonly unwritten: Set<Promise<void>>;
  /** Lines whose first intent is on disk and that were not sent yet. */
  readonly unsent: Set<number>;
  settledBefore: number;
  stoppedBy: unknown;
}

interface Meant extends Job {
  /** The service's time when this run's intent was written. */
  readonly intentAt: number;
}

/** Resolves also when it was stopped: `stoppedBy` says so. Rejects when the journal's end cannot be written. */
export async function sendRows(options: SendOptions): Promise<SendReport> {
  const run: Run = { counts: noOutcomes(), unwritten: new Set(), unsent: new Set(), settledBefore: 0, stoppedBy: null };
  const jobs = meantJobs(options, run);
  const worker = async (): Promise<void> => {
    for (let next = await jobs.next(); next.done !== true; next = await jobs.next())
      await work(options, run, next.value);
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  await Promise.all(run.unwritten);
  const stoppedBy = run.stoppedBy ?? (options.signal.aborted ? (options.signal.reason as unknown) : null);
  await writeEnd(options.journal, run, stoppedBy);
  return { counts: run.counts, settledBefore: run.settledBefore, stoppedBy };
}

/** A journal that cannot be written any more has stopped the run already. */
async function writeEnd(journal: Journal, { unsent }: Run, stoppedBy: unknown): Promise<void> {
  if (stoppedBy === null) await journal.write({ end: true });
  else if (unsent.size > 0) await journal.write({ unsent: [...unsent] }).catch(() => undefined);
}

async function work(options: SendOptions, run: Run, job: Meant): Promise<void> {
  if (isStopped(options, run)) return;
  const { line } = job.row;
  const isFirst = run.unsent.delete(line);
  try {
    const outcome =
      job.meantAt === null ? await options.sender.send(job.row, job) : await settle(options, job, job.meantAt);
    record(options, run, { line, identifier: job.row.identifier }, outcome);
  } catch (error) {
    run.stoppedBy ??= error;
    if (isFirst && !options.signal.aborted) run.unsent.add(line);
  }
}

function isStopped({ signal }: SendOptions, run: Run): boolean {
  return run.stoppedBy !== null || signal.aborted;
}

/** A former run may have sent it: nothing is repeated before a look-up has said that it did not arrive. */
async function settle({ sender, retryUnknown }: SendOptions, job: Meant, meantAt: number): Promise<RowOutcome> {
  const { row, position } = job;
  if (sender.isIdempotent(row)) return sender.send(row, job);
  const settled = await sender.lookUp(row, { intentAt: meantAt, position });
  if (settled.kind === "arrived") return settled.outcome;
  const isSafe = settled.kind === "absent" && !(job.wasUnknown && sender.unknownNeedsWord);
  if (isSafe || retryUnknown) return sender.send(row, job);
  const reason = settled.kind === "absent" ? "a look-up does not find it; it may have been late" : settled.reason;
  return { outcome: "unknown", personId: null, surveyScheduledAt: null, error: reason };
}

/** Counted when it is on disk; workers do not wait for that. */
function record(options: SendOptions, run: Run, place: Place, outcome: RowOutcome): void {
  const written = write(options, run, place, outcome).finally(() => run.unwritten.delete(written));
  run.unwritten.add(written);
}

interface Place {
  readonly line: number;
  readonly identifier: string;
}

async function write(
  { journal, onOutcome }: SendOptions,
  run: Run,
  { line, identifier }: Place,
  outcome: RowOutcome,
): Promise<void> {
  try {
    await journal.write({ done: { line, identifier, ...outcome } });
    run.counts[outcome.outcome] += 1;
    onOutcome(run.counts);
  } catch (error) {
    run.stoppedBy ??= error;
  }
}

/** Jobs whose intent is on disk; while one block is sent, the next one's intents are being written. */
async function* meantJobs(options: SendOptions, run: Run): AsyncGenerator<Meant> {
  const blocks = jobBlocks(options, run);
  let coming = meanNext(blocks, options, run);
  for (let block = await coming; block !== null; block = await coming) {
    coming = meanNext(blocks, options, run);
    yield* block;
    // Outcomes may lag behind, but not without bound.
    if (run.unwritten.size > options.concurrency * AHEAD) await Promise.race(run.unwritten);
  }
}

async function meanNext(blocks: AsyncGenerator<Job[]>, options: SendOptions, run: Run): Promise<Meant[] | null> {
  try {
    const next = await blocks.next();
    if (next.done === true || isStopped(options, run)) return null;
    const intentAt = options.sender.serverNow();
    await options.journal.write({ intent: next.value.map(({ row }) => row.line), at: intentAt });
    for (const { row, meantAt } of next.value) if (meantAt === null) run.unsent.add(row.line);
    return next.value.map((job) => ({ ...job, intentAt }));
  } catch (error) {
    run.stoppedBy ??= error;
    return null;
  }
}

async function* jobBlocks(options: SendOptions, run: Run): AsyncGenerator<Job[]> {
  const size = options.concurrency * AHEAD;
  let block: Job[] = [];
  for await (const decision of decideRows(options)) {
    if (isStopped(options, run)) return;
    if (decision.kind === "settled") {
      run.counts[decision.outcome] += 1;
      run.settledBefore += 1;
      options.onOutcome(run.counts);
    } else if (decision.kind === "skip") record(options, run, decision, skipped(decision.reason));
    else block.push(decision.job);
    if (block.length < size) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}

function skipped(reason: string): RowOutcome {
  return { outcome: "skipped", personId: null, surveyScheduledAt: null, error: reason };
}

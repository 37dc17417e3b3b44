/** Sends what is left of a checked table: bounded, journalled, and stoppable at any moment. */
import { decideRows, type Job, type JobOptions } from "./journal/job-source.ts";
import type { JournalEntry } from "./journal/journal-entry.ts";
import type { Journal } from "./journal/journal.ts";
import { countOutcomes, noOutcomes, OUTCOMES, type OutcomeCounts, type RowOutcome } from "./journal/outcome.ts";
import type { ImportRow } from "./check/row-kind.ts";

/** The end of a row that a previous run may have sent. */
export type Settled =
  | { readonly kind: "arrived"; readonly outcome: RowOutcome }
  | { readonly kind: "absent" }
  | { readonly kind: "unsettled"; readonly reason: string };

export interface LookUpContext {
  /** Unix seconds by the service's clock, at or before the first try. */
  readonly intentAt: number;
  /** The same, at or after the last try. */
  readonly sentBy: number;
  /** Among the rows that are sent, from 0. */
  readonly position: number;
}

export interface SendContext extends Omit<LookUpContext, "sentBy"> {
  /** When a previous run may have sent it; null when none can have. */
  readonly previousIntentAt: number | null;
  /** To be called when the service answers with success and says nothing of use, before any look-up. Never rejects. */
  readonly onAccepted: () => Promise<void>;
}

export interface Sender {
  /**
   * Sends one row. Rejects only for what concerns every row (a refused key, a dead network): the run then stops taking
   * rows, and this one has no outcome.
   */
  send(row: ImportRow, options: SendContext): Promise<RowOutcome>;
  /** Tells whether a row that was to be sent at `intentAt` arrived. Rejects as `send` does. */
  lookUp(row: ImportRow, options: LookUpContext): Promise<Settled>;
  /**
   * A row that was unknown once is never sent again unless that is asked for, even when a later look-up does not find
   * it.
   */
  readonly neverRepeatUnknown: boolean;
  /** A repeat of this row's request changes nothing more. */
  isIdempotent(row: ImportRow): boolean;
  /** True when `send` rejected with this before a byte of any try left. */
  isUnsent(error: unknown): boolean;
  /** Unix seconds by the service's clock. */
  serverNow(): number;
}

export interface SendOptions extends JobOptions {
  readonly sender: Sender;
  readonly journal: Journal;
  /** Rows that the check counted: fewer outcomes at the end are an error. */
  readonly rows: number;
  /** Rejects when the input is no longer the one that was checked; asked before each row is sent. */
  readonly verifyInput: () => Promise<void>;
  /** Previous runs sent nothing after that, the service's time, Unix seconds. */
  readonly sentBy: number;
  /** Rows that stay unknown after a look-up are sent again. */
  readonly retryUnknown: boolean;
  readonly concurrency: number;
  /** Aborted: no further rows are taken; those in flight end. */
  readonly signal: AbortSignal;
  /**
   * Called when an outcome is on disk, those of previous runs included: all counts, and how many of them are
   * previous.
   */
  readonly onOutcome: (counts: OutcomeCounts, earlier: number) => void;
}

export interface SendReport {
  /** Of previous runs too, whose outcomes stand for rows that this one did not reach. */
  readonly counts: OutcomeCounts;
  /** Those of them that are of previous runs. */
  readonly earlier: OutcomeCounts;
  /** Rows without a recorded outcome that this run or a previous one may have sent. */
  readonly unfinished: number;
  /** The reason for stopping; null when every row has an outcome. */
  readonly stoppedBy: unknown;
}

/** The table gave fewer rows than were checked. */
export class MissingRowsError extends Error {
  override readonly name = "MissingRowsError";
}

/** Rows whose intents share one sync, for each worker. */
const INTENTS_PER_WORKER = 8;

interface Run {
  readonly counts: OutcomeCounts;
  readonly earlier: OutcomeCounts;
  readonly unwritten: Set<Promise<void>>;
  /** Lines whose first intent is on disk and of which no byte left yet. */
  readonly unsent: Set<number>;
  /** Lines that this run may have sent and whose outcome is not on disk. */
  readonly unfinished: Set<number>;
  /** The facts of previous runs for the lines for which this one has recorded nothing. */
  readonly before: OutcomeCounts & { undecided: number };
  stoppedBy: unknown;
}

interface Intended extends Job {
  /** The service's time when this run's intent was written. */
  readonly intentAt: number;
}

/** Resolves also when it was stopped, with `stoppedBy`. */
export async function sendRows(options: SendOptions): Promise<SendReport> {
  const run: Run = {
    counts: noOutcomes(),
    earlier: noOutcomes(),
    unwritten: new Set(),
    unsent: new Set(),
    unfinished: new Set(),
    before: { ...options.before.counts, undecided: options.before.undecided },
    stoppedBy: null,
  };
  const jobs = intendedJobs(options, run);
  const worker = async (): Promise<void> => {
    for (let next = await jobs.next(); next.done !== true; next = await jobs.next())
      await work(options, run, next.value);
  };
  await Promise.all(Array.from({ length: options.concurrency }, worker));
  await Promise.all(run.unwritten);
  const stoppedBy = await writeEnd(options, run, findStop(options, run));
  countUnreached(options, run);
  const unfinished = run.unfinished.size + run.before.undecided;
  return { counts: run.counts, earlier: run.earlier, unfinished, stoppedBy };
}

function countUnreached(options: SendOptions, run: Run): void {
  for (const line of run.unfinished) supersede(options, run, line);
  for (const name of OUTCOMES) {
    run.counts[name] += run.before[name];
    run.earlier[name] += run.before[name];
  }
}

/** The facts of this run for a line take the place of those of previous ones. */
function supersede({ before }: SendOptions, run: Run, line: number): void {
  const name = before.outcomeOf(line) ?? (before.intentAt(line) === null ? null : "undecided");
  if (name !== null) run.before[name] -= 1;
}

function findStop({ signal, rows }: SendOptions, { stoppedBy, counts }: Run): unknown {
  if (stoppedBy !== null) return stoppedBy;
  if (signal.aborted) return signal.reason as unknown;
  const missing = rows - countOutcomes(counts);
  return missing === 0 ? null : new MissingRowsError(`${missing} of ${rows} rows have no outcome`);
}

/** The reason for stopping; a journal whose end cannot be written stops the run too. */
async function writeEnd({ journal, sender }: SendOptions, { unsent }: Run, stoppedBy: unknown): Promise<unknown> {
  const end: JournalEntry = stoppedBy === null ? { end: true } : { unsent: [...unsent], at: sender.serverNow() };
  return await journal.write(end).then(
    () => stoppedBy,
    (error: unknown) => stoppedBy ?? error,
  );
}

async function work(options: SendOptions, run: Run, job: Intended): Promise<void> {
  if (isStopped(options, run) || !(await isInputSame(options, run))) return;
  const { line, identifier } = job.row;
  const isFirst = run.unsent.delete(line);
  run.unfinished.add(line);
  try {
    const outcome = await (job.previousIntentAt === null
      ? options.sender.send(job.row, { ...contextOf(options, run, job), intentAt: options.sender.serverNow() })
      : settle(options, run, job, job.previousIntentAt));
    record(options, run, { line, identifier }, outcome);
  } catch (error) {
    run.stoppedBy ??= error;
    if (!isFirst || options.signal.aborted || !options.sender.isUnsent(error)) return;
    run.unsent.add(line);
    run.unfinished.delete(line);
  }
}

async function isInputSame({ verifyInput }: SendOptions, run: Run): Promise<boolean> {
  try {
    await verifyInput();
    return true;
  } catch (error) {
    run.stoppedBy ??= error;
    return false;
  }
}

function isStopped({ signal }: SendOptions, run: Run): boolean {
  return run.stoppedBy !== null || signal.aborted;
}

/** A previous run may have sent it: nothing is repeated before a look-up has shown that it did not arrive. */
async function settle(options: SendOptions, run: Run, job: Intended, sinceAt: number): Promise<RowOutcome> {
  const { sender, sentBy, retryUnknown } = options;
  const { row, position } = job;
  if (sender.isIdempotent(row)) return sender.send(row, contextOf(options, run, job));
  const settled = await sender.lookUp(row, { intentAt: sinceAt, sentBy, position });
  if (settled.kind === "arrived") return settled.outcome;
  const isSafe = settled.kind === "absent" && !job.noRepeat && !(job.wasUnknown && sender.neverRepeatUnknown);
  if (isSafe || retryUnknown) return repeat(options, run, job);
  const reason = settled.kind === "absent" ? "a look-up does not find it; it may have been late" : settled.reason;
  return { outcome: "unknown", personId: null, surveyScheduledAt: null, error: reason };
}

/** One that ends without a proof is the last; one that a kill cuts short may be followed by another look-up and repeat. */
async function repeat(options: SendOptions, run: Run, job: Intended): Promise<RowOutcome> {
  const { sender, journal } = options;
  const { line } = job.row;
  const outcome = await sender.send(job.row, contextOf(options, run, job));
  if (outcome.outcome === "unknown" || outcome.mayHaveArrived === true) await journal.write({ noRepeat: [line] });
  // However this try failed, the one before it may have arrived.
  return outcome.outcome === "failed" ? { ...outcome, mayHaveArrived: true } : outcome;
}

function contextOf({ journal }: SendOptions, run: Run, job: Intended): SendContext {
  const onAccepted = async (): Promise<void> => {
    await journal.write({ noRepeat: [job.row.line] }).catch((error: unknown) => (run.stoppedBy ??= error));
  };
  return { ...job, onAccepted };
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

async function write(options: SendOptions, run: Run, { line, identifier }: Place, outcome: RowOutcome): Promise<void> {
  const { journal, onOutcome } = options;
  try {
    await journal.write({ done: { line, identifier, ...outcome } });
    run.unfinished.delete(line);
    supersede(options, run, line);
    run.counts[outcome.outcome] += 1;
    onOutcome(run.counts, countOutcomes(run.earlier));
  } catch (error) {
    run.stoppedBy ??= error;
  }
}

/** Jobs whose intent is on disk; while one block is sent, the next one's intents are being written. */
async function* intendedJobs(options: SendOptions, run: Run): AsyncGenerator<Intended> {
  const blocks = jobBlocks(options, run);
  let coming = intendNext(blocks, options, run);
  for (let block = await coming; block !== null; block = await coming) {
    coming = intendNext(blocks, options, run);
    yield* block;
    // Outcomes may lag behind, but not without bound.
    if (run.unwritten.size > options.concurrency * INTENTS_PER_WORKER) await Promise.race(run.unwritten);
  }
}

async function intendNext(blocks: AsyncGenerator<Job[]>, options: SendOptions, run: Run): Promise<Intended[] | null> {
  try {
    const next = await blocks.next();
    if (next.done === true || isStopped(options, run)) return null;
    const intentAt = options.sender.serverNow();
    await options.journal.write({ intent: next.value.map(({ row }) => row.line), at: intentAt });
    for (const { row, previousIntentAt } of next.value) if (previousIntentAt === null) run.unsent.add(row.line);
    return next.value.map((job) => ({ ...job, intentAt }));
  } catch (error) {
    run.stoppedBy ??= error;
    return null;
  }
}

async function* jobBlocks(options: SendOptions, run: Run): AsyncGenerator<Job[]> {
  const size = options.concurrency * INTENTS_PER_WORKER;
  let block: Job[] = [];
  for await (const decision of decideRows(options)) {
    if (isStopped(options, run)) return;
    if (decision.kind === "settled") {
      run.before[decision.outcome] -= 1;
      run.counts[decision.outcome] += 1;
      run.earlier[decision.outcome] += 1;
      options.onOutcome(run.counts, countOutcomes(run.earlier));
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

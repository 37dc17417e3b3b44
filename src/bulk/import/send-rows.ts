import type { Clock } from "../../runtime/clock.ts";
import { decideRows, type RowSource, type RowToSend } from "./journal/decide-rows.ts";
import type { JournalEntry } from "./journal/journal-entry.ts";
import type { Journal } from "./journal/journal.ts";
import { countOutcomes, noOutcomes, OUTCOMES, type OutcomeCounts, type RowOutcome } from "./journal/outcome.ts";
import { rowKey } from "./check/identities.ts";
import type { ImportRow } from "./check/row-kind.ts";

export type Settled =
  | { readonly kind: "arrived"; readonly outcome: RowOutcome }
  | { readonly kind: "absent" }
  | { readonly kind: "unsettled"; readonly reason: string };

interface IntendedRow extends RowToSend {
  readonly intentAt: number;
}

export interface Sender {
  /**
   * Rejects only for errors that affect every row, such as an invalid key. `onAccepted` is called before any look-up if
   * the service returns 2xx without a usable body; it never rejects.
   */
  send(row: IntendedRow, onAccepted: () => Promise<void>): Promise<RowOutcome>;
  /** Looks up a row sent between `intentAt` and `sentBy`, both in Unix seconds by the service's clock. */
  lookUp(row: IntendedRow, time: { readonly intentAt: number; readonly sentBy: number }): Promise<Settled>;
  /** If true, only --retry-unknown sends rows with an unknown outcome again, even if no look-up finds them. */
  readonly neverRepeatUnknown: boolean;
  isIdempotent(row: ImportRow): boolean;
  isUnsent(error: unknown): boolean;
  serverNow(): number;
}

export interface SendOptions extends RowSource {
  readonly sender: Sender;
  readonly journal: Journal;
  readonly clock: Clock;
  /** Rows in the file, each of which must have an outcome at the end. */
  readonly rows: number;
  /** Previous runs sent nothing after this time, by the service's clock. */
  readonly sentBy: number;
  readonly retryUnknown: boolean;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  readonly onDone: (rows: number, earlier: number) => void;
}

export interface SendReport {
  readonly counts: OutcomeCounts;
  readonly earlier: OutcomeCounts;
  readonly unfinished: number;
  readonly failures: readonly RowFailure[];
  readonly stoppedBy: unknown;
}

interface RowFailure {
  readonly reason: string;
  readonly rows: number;
  /** True if the service clearly rejected these rows, so that a retry would fail too. */
  readonly isRefused: boolean;
}

export class MissingRowsError extends Error {
  override readonly name = "MissingRowsError";
}

const INTENTS_PER_WORKER = 8;

const VERIFY_MS = 20;

interface Run {
  readonly now: OutcomeCounts;
  /** Rows read so far that previous runs had finished. */
  earlier: number;
  readonly unwritten: Set<Promise<void>>;
  /** Lines that were never sent although their intent is on disk. */
  readonly unsent: Set<number>;
  readonly failures: Map<string, RowFailure>;
  verifiedAt: number;
  stoppedBy: unknown;
}

export async function sendRows(options: SendOptions): Promise<SendReport> {
  const { before, concurrency } = options;
  const run: Run = {
    now: noOutcomes(),
    earlier: 0,
    unwritten: new Set(),
    unsent: new Set(),
    failures: new Map(),
    verifiedAt: Number.NEGATIVE_INFINITY,
    stoppedBy: null,
  };
  const rows = intendedRows(options, run);
  const worker = async (): Promise<void> => {
    for (let next = await rows.next(); next.done !== true; next = await rows.next())
      await work(options, run, next.value);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
  await Promise.all(run.unwritten);
  const stoppedBy = await writeEnd(options, run, findStop(options, run));
  const { counts, undecided } = before;
  const unfinished = undecided.length;
  const earlier = Object.fromEntries(OUTCOMES.map((name) => [name, counts[name] - run.now[name]])) as OutcomeCounts;
  const failures = [...run.failures.values()].toSorted((left, right) => right.rows - left.rows);
  return { counts, earlier, unfinished, failures, stoppedBy };
}

function findStop({ signal, rows, before }: SendOptions, { stoppedBy }: Run): unknown {
  if (stoppedBy !== null) return stoppedBy;
  if (signal.aborted) return signal.reason as unknown;
  const missing = rows - countOutcomes(before.counts);
  return missing === 0 ? null : new MissingRowsError(`${missing} of ${rows} rows have no outcome`);
}

async function writeEnd(
  { journal, sender, before }: SendOptions,
  { unsent }: Run,
  stoppedBy: unknown,
): Promise<unknown> {
  const end: JournalEntry = stoppedBy === null ? { end: true } : { unsent: [...unsent], at: sender.serverNow() };
  before.take(end);
  return await journal.write(end).then(
    () => stoppedBy,
    (error: unknown) => stoppedBy ?? error,
  );
}

async function work(options: SendOptions, run: Run, row: IntendedRow): Promise<void> {
  if (!(await mayBegin(options, run))) return;
  const { sender, signal } = options;
  const isFirst = run.unsent.delete(row.line);
  try {
    const outcome = await (row.previousIntentAt === null
      ? send(options, run, { ...row, intentAt: sender.serverNow() })
      : settle(options, run, row, row.previousIntentAt));
    if (outcome.outcome === "failed") noteFailure(run.failures, outcome);
    record(options, run, row, sender.isIdempotent(row) ? withoutDoubt(outcome) : outcome);
  } catch (error) {
    run.stoppedBy ??= error;
    if (!isFirst || signal.aborted || !sender.isUnsent(error)) return;
    run.unsent.add(row.line);
  }
}

async function mayBegin(options: SendOptions, run: Run): Promise<boolean> {
  const now = options.clock.monotonic();
  if (!isStopped(options, run) && now - run.verifiedAt >= VERIFY_MS) {
    try {
      await options.table.input.verify();
      run.verifiedAt = now;
    } catch (error) {
      run.stoppedBy ??= error;
    }
  }
  return !isStopped(options, run);
}

async function send({ sender, journal }: SendOptions, run: Run, row: IntendedRow): Promise<RowOutcome> {
  return sender.send(row, async () => {
    await journal.write({ noRepeat: [row.line] }).catch((error: unknown) => (run.stoppedBy ??= error));
  });
}

function isStopped({ signal }: SendOptions, run: Run): boolean {
  return run.stoppedBy !== null || signal.aborted;
}

/**
 * Repeats a row that may have arrived only if it is idempotent, a look-up shows that it didn't arrive, or
 * --retry-unknown is given.
 */
async function settle(options: SendOptions, run: Run, row: IntendedRow, intentAt: number): Promise<RowOutcome> {
  const { sender, sentBy, retryUnknown } = options;
  if (sender.isIdempotent(row)) return send(options, run, row);
  const settled = await sender.lookUp(row, { intentAt, sentBy });
  if (settled.kind === "arrived") return settled.outcome;
  const isSafe = settled.kind === "absent" && !row.noRepeat && !(row.wasUnknown && sender.neverRepeatUnknown);
  if (isSafe || retryUnknown) return repeat(options, run, row);
  const reason = settled.kind === "absent" ? "a look-up does not find it; it may have been late" : settled.reason;
  return { outcome: "unknown", personId: null, surveyScheduledAt: null, error: reason };
}

/** If the outcome is unclear again, the row is marked so that no later run repeats it. */
async function repeat(options: SendOptions, run: Run, row: IntendedRow): Promise<RowOutcome> {
  const outcome = await send(options, run, row);
  if (outcome.outcome === "unknown" || outcome.mayHaveArrived === true)
    await options.journal.write({ noRepeat: [row.line] });
  return outcome.outcome === "failed" ? { ...outcome, mayHaveArrived: true } : outcome;
}

function withoutDoubt({ mayHaveArrived: _mayHaveArrived, ...outcome }: RowOutcome): RowOutcome {
  return outcome;
}

type RowName = Pick<ImportRow, "line" | "identifier">;

function record(options: SendOptions, run: Run, row: RowName, outcome: RowOutcome): void {
  const written = write(options, run, row, outcome).finally(() => run.unwritten.delete(written));
  run.unwritten.add(written);
}

async function write(options: SendOptions, run: Run, row: RowName, outcome: RowOutcome): Promise<void> {
  const { line, identifier } = row;
  try {
    await writeEntry(options, { done: { line, identifier, ...outcome } });
    run.now[outcome.outcome] += 1;
    options.onDone(countOutcomes(run.now) + run.earlier, run.earlier);
  } catch (error) {
    run.stoppedBy ??= error;
  }
}

async function writeEntry({ journal, before }: SendOptions, entry: JournalEntry): Promise<void> {
  await journal.write(entry);
  before.take(entry);
}

/** Limits memory, because some services word each rejection differently. */
const REASONS_MAX = 100;
const OTHER_REASONS = "other reasons";

function noteFailure(failures: Run["failures"], { error, mayHaveArrived = false }: RowOutcome): void {
  const given = error ?? "the service gave no reason";
  const reason = failures.has(given) || failures.size < REASONS_MAX ? given : OTHER_REASONS;
  const { rows = 0, isRefused = true } = failures.get(reason) ?? {};
  failures.set(reason, { reason, rows: rows + 1, isRefused: isRefused && !mayHaveArrived });
}

/** Writes the intents of the next block while the current one is being sent. */
async function* intendedRows(options: SendOptions, run: Run): AsyncGenerator<IntendedRow> {
  const blocks = rowBlocks(options, run);
  let coming = intendNext(blocks, options, run);
  for (let block = await coming; block !== null; block = await coming) {
    coming = intendNext(blocks, options, run);
    yield* block;
    // Limits how many outcomes can be waiting to be written.
    if (run.unwritten.size > options.concurrency * INTENTS_PER_WORKER) await Promise.race(run.unwritten);
  }
}

async function intendNext(
  blocks: AsyncGenerator<RowToSend[]>,
  options: SendOptions,
  run: Run,
): Promise<IntendedRow[] | null> {
  try {
    const next = await blocks.next();
    if (next.done === true || isStopped(options, run)) return null;
    const rows = next.value;
    const intentAt = options.sender.serverNow();
    const keys = rows.map((row) => rowKey(options.table.kind, row));
    await writeEntry(options, { intent: rows.map(({ line }) => line), at: intentAt, keys });
    for (const { line, previousIntentAt } of rows) if (previousIntentAt === null) run.unsent.add(line);
    return rows.map((row) => ({ ...row, intentAt }));
  } catch (error) {
    run.stoppedBy ??= error;
    return null;
  }
}

async function* rowBlocks(options: SendOptions, run: Run): AsyncGenerator<RowToSend[]> {
  const size = options.concurrency * INTENTS_PER_WORKER;
  let block: RowToSend[] = [];
  for await (const decision of decideRows(options)) {
    if (isStopped(options, run)) return;
    if (decision.kind === "settled") {
      run.earlier += 1;
      options.onDone(countOutcomes(run.now) + run.earlier, run.earlier);
    } else if (decision.kind === "skip") record(options, run, decision.row, skipped(decision.reason));
    else block.push(decision.row);
    if (block.length < size) continue;
    yield block;
    block = [];
  }
  if (block.length > 0) yield block;
}

function skipped(reason: string): RowOutcome {
  return { outcome: "skipped", personId: null, surveyScheduledAt: null, error: reason };
}

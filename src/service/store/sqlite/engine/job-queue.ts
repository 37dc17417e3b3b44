/** Runs all jobs of a data file one after another. Writes that wait together share one commit, and so one disk sync. */
import { nextTurn, type Clock } from "../../../../runtime/clock.ts";
import type { StoreCommit, Transaction } from "../../../domain/ports.ts";
import type { Job, WriteEnd, WriteJob } from "../../sql/run-jobs.ts";
import { StoreFileError } from "../../store-errors.ts";
import { rollBack, type SqliteDatabase } from "./database.ts";
import type { FileWatch } from "./file-watch.ts";

/** A larger batch would delay its first job too much. */
const BATCH_MAX = 512;
/** Event-loop turns that a write yields to reads; with eight busy clients, this saves up to half of the disk syncs. */
const GATHER_TURNS = 3;
/** How long to wait while another process writes: compacting a large file takes seconds. */
const RETRY_MAX_MS = 10_000;
const RETRY_DELAY_MS = { first: 1, last: 25 } as const;

export interface JobQueueOptions {
  readonly database: SqliteDatabase;
  readonly clock: Pick<Clock, "sleep" | "monotonic">;
  readonly run: (jobs: readonly WriteJob[]) => Promise<WriteEnd>;
  readonly watch: Pick<FileWatch, "failed" | "refusal">;
  readonly onCommit?: (commit: StoreCommit) => void;
}

type ReadJob = Job<() => Promise<unknown>>;

/** A job that throws only rejects itself; a failed commit rejects the whole batch. */
export class JobQueue {
  readonly #options: JobQueueOptions;
  readonly #reads: ReadJob[] = [];
  readonly #writes: WriteJob[] = [];
  #draining: Promise<void> | null = null;
  /** Set while writes wait for another process to finish. */
  #waiting: Promise<void> | null = null;
  #backoff: Backoff | null = null;
  #closed = false;
  /** Number of writes at the head of the queue that no longer wait to share a commit. */
  #urgent = 0;
  #gathered = 0;

  constructor(options: JobQueueOptions) {
    this.#options = options;
  }

  /** Everything that `work` reads comes from the same snapshot. */
  read<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.alone(() => retryWhileBusy(this.#options.clock, () => readConsistently(this.#options, work)));
  }

  write<Result>(work: (tx: Transaction) => Promise<Result>, mayWaitMs = 0): Promise<Result> {
    const result = this.#add(this.#writes, work);
    const last = this.#writes.at(-1);
    if (mayWaitMs === 0 || last === undefined) this.#hurry(this.#writes.length);
    else void this.#options.clock.sleep(mayWaitMs).then(() => this.#hurry(this.#writes.indexOf(last) + 1));
    return result as Promise<Result>;
  }

  /** Runs outside any transaction, while no other job runs. */
  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#add(this.#reads, work);
    this.#begin();
    return result as Promise<Result>;
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#hurry(this.#writes.length);
    for (;;) {
      const running = this.#draining ?? this.#waiting;
      if (running === null) return;
      await running;
    }
  }

  #add<Work>(jobs: Job<Work>[], work: Work): Promise<unknown> {
    if (this.#closed) return Promise.reject(new Error("the store is closed"));
    return new Promise((resolve, reject) => {
      jobs.push({ work, resolve, reject });
    });
  }

  /** Writes run in order, so all earlier ones have to hurry too. */
  #hurry(count: number): void {
    // The job has already run in an earlier batch.
    if (count === 0) return;
    this.#urgent = Math.max(this.#urgent, count);
    this.#begin();
  }

  #begin(): void {
    if (this.#isReady()) this.#draining ??= this.#drain();
  }

  #isReady(): boolean {
    return this.#reads.length > 0 || this.#mayWrite();
  }

  #mayWrite(): boolean {
    return this.#urgent > 0 && this.#waiting === null;
  }

  #mayGather(): boolean {
    if (this.#reads.length === 0 || this.#closed) return false;
    this.#gathered += 1;
    return this.#gathered <= GATHER_TURNS;
  }

  async #drain(): Promise<void> {
    while (this.#isReady()) {
      for (const job of this.#reads.splice(0)) await runRead(job, this.#options.watch);
      // Lets requests that arrive in the same turn of the event loop join the batch.
      if (this.#urgent > 0) await nextTurn();
      if (this.#mayWrite() && !this.#mayGather()) await this.#writeBatch();
    }
    this.#draining = null;
  }

  async #writeBatch(): Promise<void> {
    const { database, clock, watch } = this.#options;
    const startedMs = clock.monotonic();
    try {
      const refusal = watch.refusal();
      if (refusal !== null) throw refusal;
      database.all("BEGIN IMMEDIATE");
    } catch (error) {
      return this.#waitForOthers(error);
    }
    this.#backoff = null;
    const batch = this.#takeBatch();
    const { outcome, answers } = await this.#run(batch);
    this.#options.onCommit?.({ outcome, jobs: batch.length, seconds: (clock.monotonic() - startedMs) / 1000 });
    for (const answer of answers) answer();
  }

  async #run(batch: readonly WriteJob[]): Promise<WriteEnd> {
    const { database, run, watch } = this.#options;
    try {
      return await run(batch);
    } catch (error) {
      rollBack(database);
      const failure = watch.failed(error);
      for (const job of batch) job.reject(failure);
      return { outcome: "rolled_back", answers: [] };
    }
  }

  #takeBatch(): readonly WriteJob[] {
    this.#gathered = 0;
    const batch = this.#writes.splice(0, BATCH_MAX);
    this.#urgent = Math.max(0, this.#urgent - batch.length);
    return batch;
  }

  #rejectBatch(error: unknown): void {
    this.#backoff = null;
    const failure = this.#options.watch.failed(error);
    for (const job of this.#takeBatch()) job.reject(failure);
  }

  /** Tries again later if another process is writing; reads continue. */
  #waitForOthers(error: unknown): void {
    this.#backoff ??= new Backoff(this.#options.clock);
    const ms = this.#backoff.delayAfter(error);
    if (ms === null) this.#rejectBatch(error);
    else this.#waiting = this.#lookAgain(ms);
  }

  async #lookAgain(ms: number): Promise<void> {
    await this.#options.clock.sleep(ms);
    this.#waiting = null;
    this.#begin();
  }
}

async function runRead({ work, resolve, reject }: ReadJob, watch: JobQueueOptions["watch"]): Promise<void> {
  try {
    const refusal = watch.refusal();
    if (refusal !== null) throw refusal;
    resolve(await work());
  } catch (error) {
    reject(watch.failed(error));
  }
}

async function readConsistently<Result>({ database }: JobQueueOptions, work: () => Promise<Result>): Promise<Result> {
  try {
    database.all("BEGIN");
    return await work();
  } finally {
    rollBack(database);
  }
}

/** Repeats work while another process is briefly in the way. Rejects with the last error if that takes too long. */
export async function retryWhileBusy<Result>(
  clock: Pick<Clock, "sleep" | "monotonic">,
  work: () => Promise<Result>,
): Promise<Result> {
  const backoff = new Backoff(clock);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const ms = backoff.delayAfter(error);
      if (ms === null) throw error;
      await clock.sleep(ms);
    }
  }
}

class Backoff {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #sinceMs: number;
  #ms: number = RETRY_DELAY_MS.first;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonic();
  }

  /** Milliseconds until the next try; null for any other error, or after RETRY_MAX_MS. */
  delayAfter(error: unknown): number | null {
    if (!isBusy(error) || this.#clock.monotonic() - this.#sinceMs > RETRY_MAX_MS) return null;
    const ms = this.#ms;
    this.#ms = Math.min(ms * 2, RETRY_DELAY_MS.last);
    return ms;
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof StoreFileError && error.trouble === "busy";
}

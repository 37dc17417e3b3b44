/**
 * All jobs of a store, one after another; writes that wait together share one commit and so one disk sync. While
 * another process writes, reads go on.
 */
import { nextTurn, type Clock } from "../../../../runtime/clock.ts";
import type { StoreCommit } from "../../../domain/ports.ts";
import { StoreFileError } from "../../store-errors.ts";
import { rollBack, type SqliteDatabase } from "./database.ts";

/** More would make the first of them wait too long. */
const BATCH_MAX = 512;
/**
 * For so many turns of the event loop a write lets reads go first while they keep coming: other writes come between
 * them and share its commit. Where every tenth of eight clients' requests writes, that saves up to half of the syncs.
 */
const GATHER_TURNS = 3;
/** Another process that writes is waited for so long: one that compacts a large file takes seconds. */
const PATIENCE_MS = 10_000;
const LOOK_AGAIN_MS = { first: 1, last: 25 } as const;

interface Job {
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface JobQueue {
  /** On one state of the database. */
  read<Result>(work: () => Promise<Result>): Promise<Result>;
  /** `mayWaitMs`: as in WriteOptions. */
  write<Result>(work: () => Promise<Result>, mayWaitMs?: number): Promise<Result>;
  /** Outside of any transaction, while no other job runs. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Refuses what comes later and resolves when everything before has ended. */
  close(): Promise<void>;
}

/** The work of the store around the jobs. */
export interface Watch {
  /** In each transaction, before anything else: other processes may have written. */
  readonly refresh: () => void;
  /** In a write, before its first job. */
  readonly begin: () => void;
  /** Before each job; returns what undoes what the job leaves outside the database. */
  readonly mark: () => () => void;
  /** In a write, after its last job. */
  readonly end: () => void;
  /** The write is committed. */
  readonly recover: () => void;
  /** The write is over, in whichever way. */
  readonly over: () => void;
  /** With the error of a COMMIT; returns the one that the batch ends with. */
  readonly uncommitted: (error: unknown) => unknown;
  /** After a commit, before it is answered: throws unless the file is still the one that was opened. */
  readonly look: () => void;
  /** With each error that a job, or a whole batch, ended with; returns the one to reject with. */
  readonly failed: (error: unknown) => unknown;
  /** The reason why no job can be run any more; null while they can. */
  readonly refusal: () => Error | null;
  /** After each transaction; one that is not answered counts as rolled back. */
  readonly ended?: (commit: StoreCommit) => void;
}

/** A job that throws rejects alone; a commit that fails rejects its whole batch. */
export function createJobQueue(
  database: SqliteDatabase,
  clock: Pick<Clock, "sleep" | "monotonic">,
  watch: Watch,
): JobQueue {
  return new StoreJobs(database, clock, watch);
}

class StoreJobs implements JobQueue {
  readonly #database: SqliteDatabase;
  readonly #clock: Pick<Clock, "sleep" | "monotonic">;
  readonly #watch: Watch;
  readonly #reads: Job[] = [];
  readonly #writes: Job[] = [];
  #draining: Promise<void> | null = null;
  /** Writes wait for another process. */
  #waiting: Promise<void> | null = null;
  /** Null while they do not. */
  #patience: Patience | null = null;
  #closed = false;
  /** The number of first writes that wait for no others. */
  #urgent = 0;
  /** For how many turns they have let reads go first. */
  #gathered = 0;

  constructor(database: SqliteDatabase, clock: Pick<Clock, "sleep" | "monotonic">, watch: Watch) {
    this.#database = database;
    this.#clock = clock;
    this.#watch = watch;
  }

  read<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.alone(() => waitingForOthers(this.#clock, () => readTogether(this.#database, this.#watch, work)));
  }

  write<Result>(work: () => Promise<Result>, mayWaitMs = 0): Promise<Result> {
    const result = this.#add(this.#writes, work);
    const last = this.#writes.at(-1);
    if (mayWaitMs === 0 || last === undefined) this.#hurry(this.#writes.length);
    else void this.#clock.sleep(mayWaitMs).then(() => this.#hurry(this.#writes.indexOf(last) + 1));
    return result;
  }

  alone<Result>(work: () => Promise<Result>): Promise<Result> {
    const result = this.#add(this.#reads, work);
    this.#begin();
    return result;
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

  #add<Result>(jobs: Job[], work: () => Promise<Result>): Promise<Result> {
    if (this.#closed) return Promise.reject(new Error("the store is closed"));
    return new Promise<Result>((resolve, reject) => {
      jobs.push({ run: work, resolve, reject });
    });
  }

  /** Writes run in order, so those that were called before go with it. */
  #hurry(count: number): void {
    // A waiting job may have been taken along.
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
      for (const job of this.#reads.splice(0)) await runJob(job, this.#watch);
      // Requests that arrived in the same turn of the event loop are still being read: let them join.
      if (this.#urgent > 0) await nextTurn();
      if (this.#mayWrite() && !this.#mayGather()) await this.#writeBatch();
    }
    this.#draining = null;
  }

  async #writeBatch(): Promise<void> {
    const startedMs = this.#clock.monotonic();
    try {
      const refusal = this.#watch.refusal();
      if (refusal !== null) throw refusal;
      this.#database.all("BEGIN IMMEDIATE");
    } catch (error) {
      return this.#waitForOthers(error);
    }
    this.#patience = null;
    const batch = this.#takeBatch();
    const answers = await runBatch(this.#database, batch, this.#watch);
    const outcome = answers === null ? "rolled_back" : "committed";
    const seconds = (this.#clock.monotonic() - startedMs) / 1000;
    this.#watch.ended?.({ outcome, jobs: batch.length, seconds });
    for (const answer of answers ?? []) answer();
  }

  #takeBatch(): readonly Job[] {
    this.#gathered = 0;
    const batch = this.#writes.splice(0, BATCH_MAX);
    this.#urgent = Math.max(0, this.#urgent - batch.length);
    return batch;
  }

  #rejectBatch(error: unknown): void {
    this.#patience = null;
    const failure = this.#watch.failed(error);
    for (const job of this.#takeBatch()) job.reject(failure);
  }

  /** Tries again in a while where another process writes, and lets reads go on meanwhile; else gives the batch up. */
  #waitForOthers(error: unknown): void {
    this.#patience ??= new Patience(this.#clock);
    const ms = this.#patience.pauseAfter(error);
    if (ms === null) this.#rejectBatch(error);
    else this.#waiting = this.#lookAgain(ms);
  }

  async #lookAgain(ms: number): Promise<void> {
    await this.#clock.sleep(ms);
    this.#waiting = null;
    this.#begin();
  }
}

async function runJob(job: Job, watch: Watch): Promise<void> {
  try {
    const refusal = watch.refusal();
    if (refusal !== null) throw refusal;
    job.resolve(await job.run());
  } catch (error) {
    job.reject(watch.failed(error));
  }
}

/** Reads of one transaction see one state. */
async function readTogether<Result>(
  database: SqliteDatabase,
  watch: Watch,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    database.all("BEGIN");
    watch.refresh();
    return await work();
  } finally {
    rollBack(database);
  }
}

/** Does what another process may keep from being done for a moment. Rejects with that error when it takes long. */
export async function waitingForOthers<Result>(
  clock: Pick<Clock, "sleep" | "monotonic">,
  work: () => Promise<Result>,
): Promise<Result> {
  const patience = new Patience(clock);
  for (;;) {
    try {
      return await work();
    } catch (error) {
      const ms = patience.pauseAfter(error);
      if (ms === null) throw error;
      await clock.sleep(ms);
    }
  }
}

/** The pauses after which something is tried again while another process keeps it from being done. */
class Patience {
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #sinceMs: number;
  #ms: number = LOOK_AGAIN_MS.first;

  constructor(clock: Pick<Clock, "monotonic">) {
    this.#clock = clock;
    this.#sinceMs = clock.monotonic();
  }

  /** Milliseconds until the next try; null where the error is another one, or this has lasted long enough. */
  pauseAfter(error: unknown): number | null {
    if (!isBusy(error) || this.#clock.monotonic() - this.#sinceMs > PATIENCE_MS) return null;
    const ms = this.#ms;
    this.#ms = Math.min(ms * 2, LOOK_AGAIN_MS.last);
    return ms;
  }
}

export function isBusy(error: unknown): boolean {
  return error instanceof StoreFileError && error.trouble === "busy";
}

/** The answer of a job once its transaction is committed. */
type Answer = () => void;

/** The transaction that has begun, each job in its own savepoint; null when it is lost and its jobs are rejected. */
async function runBatch(
  database: SqliteDatabase,
  jobs: readonly Job[],
  watch: Watch,
): Promise<readonly Answer[] | null> {
  const answers: Answer[] = [];
  try {
    database.writing = true;
    watch.refresh();
    watch.begin();
    // One alone is undone with its transaction.
    const runOne = jobs.length === 1 ? runToEnd : runInSavepoint;
    for (const job of jobs) answers.push(await runOne(job, database, watch));
    watch.end();
    commit(database, watch);
    watch.recover();
    return answers;
  } catch (error) {
    rollBack(database);
    const failure = watch.failed(error);
    for (const job of jobs) job.reject(failure);
    return null;
  } finally {
    watch.over();
    database.writing = false;
  }
}

function commit(database: SqliteDatabase, watch: Watch): void {
  try {
    database.all("COMMIT");
  } catch (error) {
    throw watch.uncommitted(error);
  }
  watch.look();
}

async function runToEnd(job: Job): Promise<Answer> {
  const value = await job.run();
  return () => job.resolve(value);
}

/** Throws only when the whole transaction is lost. */
async function runInSavepoint(job: Job, database: SqliteDatabase, watch: Watch): Promise<Answer> {
  database.all("SAVEPOINT job");
  const restore = watch.mark();
  try {
    const answer = await runToEnd(job);
    database.all("RELEASE job");
    return answer;
  } catch (error) {
    if (!undoJob(database)) throw error;
    restore();
    const failure = watch.failed(error);
    return () => job.reject(failure);
  }
}

/** False when there is nothing left to undo: a disk that was full in the middle of much has ended the transaction. */
function undoJob(database: SqliteDatabase): boolean {
  try {
    database.all("ROLLBACK TO job");
    database.all("RELEASE job");
    return true;
  } catch {
    return false;
  }
}

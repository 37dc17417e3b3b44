/**
 * All jobs of a store, one after another; writes that wait together share one commit and so one disk sync. While another
 * process writes, reads go on.
 */
import { nextTurn, type Clock } from "../../../../runtime/clock.ts";
import type { StoreCommit, WriteOptions } from "../../../domain/ports.ts";
import { StoreFileError } from "../../store-errors.ts";
import { rollBack, type SqliteDatabase } from "./database.ts";

/** More would make the first of them wait too long. */
const BATCH_MAX = 512;
/**
 * For so many turns of the event loop a write lets reads go first while they keep coming: other writes come between them
 * and share its commit. Where every tenth of eight clients' requests writes, that saves up to half of the syncs.
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
  write<Result>(work: () => Promise<Result>, options?: WriteOptions): Promise<Result>;
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
  /** Why no job can be run any more; null while they can. */
  readonly refusal: () => Error | null;
  /** After each transaction; one that is not answered counts as rolled back. */
  readonly ended?: (commit: StoreCommit) => void;
}

interface QueueState {
  draining: Promise<void> | null;
  /** Writes wait for another process. */
  waiting: Promise<void> | null;
  /** Since when they have waited, and how long until the next look; null while they do not. */
  wait: { readonly sinceMs: number; readonly ms: number } | null;
  closed: boolean;
  /** The number of first writes that wait for no others. */
  urgent: number;
  /** For how many turns they have let reads go first. */
  gathered: number;
}

/** A job that throws rejects alone; a commit that fails rejects its whole batch. */
export function createJobQueue(
  database: SqliteDatabase,
  clock: Pick<Clock, "sleep" | "monotonic">,
  watch: Watch,
): JobQueue {
  const reads: Job[] = [];
  const writes: Job[] = [];
  const state: QueueState = {
    draining: null,
    waiting: null,
    wait: null,
    closed: false,
    urgent: 0,
    gathered: 0,
  };

  const takeBatch = (): readonly Job[] => {
    state.gathered = 0;
    const batch = writes.splice(0, BATCH_MAX);
    state.urgent = Math.max(0, state.urgent - batch.length);
    return batch;
  };
  const rejectBatch = (error: unknown): void => {
    state.wait = null;
    const failure = watch.failed(error);
    for (const job of takeBatch()) job.reject(failure);
  };
  const lookAgain = async (ms: number): Promise<void> => {
    await clock.sleep(ms);
    state.waiting = null;
    begin();
  };
  /** Looks again in a while, or gives the batch up. */
  const waitForOthers = (busy: unknown): void => {
    const { sinceMs, ms } = state.wait ?? { sinceMs: clock.monotonic(), ms: LOOK_AGAIN_MS.first };
    if (clock.monotonic() - sinceMs > PATIENCE_MS) return rejectBatch(busy);
    state.wait = { sinceMs, ms: Math.min(ms * 2, LOOK_AGAIN_MS.last) };
    state.waiting = lookAgain(ms);
  };
  const writeBatch = async (): Promise<void> => {
    const startedMs = clock.monotonic();
    try {
      const refusal = watch.refusal();
      if (refusal !== null) throw refusal;
      database.all("BEGIN IMMEDIATE");
    } catch (error) {
      return isBusy(error) ? waitForOthers(error) : rejectBatch(error);
    }
    state.wait = null;
    const batch = takeBatch();
    const answers = await runBatch(database, batch, watch);
    const outcome = answers === null ? "rolled_back" : "committed";
    watch.ended?.({ outcome, jobs: batch.length, seconds: (clock.monotonic() - startedMs) / 1000 });
    for (const answer of answers ?? []) answer();
  };
  const mayWrite = (): boolean => state.urgent > 0 && state.waiting === null;
  const isReady = (): boolean => reads.length > 0 || mayWrite();
  const mayGather = (): boolean => {
    if (reads.length === 0 || state.closed) return false;
    state.gathered += 1;
    return state.gathered <= GATHER_TURNS;
  };
  const drain = async (): Promise<void> => {
    while (isReady()) {
      for (const job of reads.splice(0)) await runJob(job, watch);
      // Requests that arrived in the same turn of the event loop are still being read: let them join.
      if (state.urgent > 0) await nextTurn();
      if (mayWrite() && !mayGather()) await writeBatch();
    }
    state.draining = null;
  };
  const add = <Result>(jobs: Job[], work: () => Promise<Result>): Promise<Result> => {
    if (state.closed) return Promise.reject(new Error("the store is closed"));
    return new Promise<Result>((resolve, reject) => {
      jobs.push({ run: work, resolve, reject });
    });
  };
  const begin = (): void => {
    if (isReady()) state.draining ??= drain();
  };
  /** Writes run in order, so what was called before goes with it. */
  const hurry = (count: number): void => {
    // A waiting job may have been taken along.
    if (count === 0) return;
    state.urgent = Math.max(state.urgent, count);
    begin();
  };
  const alone: JobQueue["alone"] = (work) => {
    const result = add(reads, work);
    begin();
    return result;
  };
  return {
    alone,
    read: (work) => alone(() => waitingForOthers(clock, () => readTogether(database, watch, work))),
    write: (work, { mayWaitMs = 0 } = {}) => {
      const result = add(writes, work);
      const last = writes.at(-1);
      if (mayWaitMs === 0 || last === undefined) hurry(writes.length);
      else void clock.sleep(mayWaitMs).then(() => hurry(writes.indexOf(last) + 1));
      return result;
    },
    close: async () => {
      state.closed = true;
      hurry(writes.length);
      for (;;) {
        const running = state.draining ?? state.waiting;
        if (running === null) return;
        await running;
      }
    },
  };
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
  const sinceMs = clock.monotonic();
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!isBusy(error) || clock.monotonic() - sinceMs > PATIENCE_MS) throw error;
    }
    await clock.sleep(LOOK_AGAIN_MS.last);
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
    for (const job of jobs) answers.push(await runInSavepoint(database, job, watch));
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

/** Throws only when the whole transaction is lost. */
async function runInSavepoint(database: SqliteDatabase, job: Job, watch: Watch): Promise<Answer> {
  database.all("SAVEPOINT job");
  const restore = watch.mark();
  try {
    const value = await job.run();
    database.all("RELEASE job");
    return () => job.resolve(value);
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

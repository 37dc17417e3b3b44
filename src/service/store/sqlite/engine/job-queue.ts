/** All jobs of a store, one after another; writes that wait together share one commit and so one disk sync. */
import { nextTurn, type Clock } from "../../../../runtime/clock.ts";
import type { WriteOptions } from "../../../domain/ports.ts";
import type { Database } from "./database.ts";

/** More would make the first of them wait too long. */
const BATCH_MAX = 512;

interface Job {
  run(): Promise<unknown>;
  resolve(value: unknown): void;
  reject(error: unknown): void;
}

export interface JobQueue {
  read<Result>(work: () => Promise<Result>): Promise<Result>;
  write<Result>(work: () => Promise<Result>, options?: WriteOptions): Promise<Result>;
  /** Refuses what comes later and resolves when everything before has ended. */
  close(): Promise<void>;
}

/** What the store does around the jobs. */
export interface Watch {
  /** In the transaction, before its first job. */
  readonly begin: () => void;
  /** Both may throw, and then no job of the batch is acknowledged. */
  readonly beforeCommit: () => void;
  readonly afterCommit: () => void;
  /** With each error that a job, or a whole batch, ended with; returns the one to reject with. */
  readonly failed: (error: unknown) => unknown;
  /** Why no job can be run any more; null while they can. */
  readonly refusal: () => Error | null;
}

/** A job that throws rejects alone; a commit that fails rejects its whole batch. */
export function createJobQueue(database: Database, clock: Pick<Clock, "sleep">, watch: Watch): JobQueue {
  const reads: Job[] = [];
  const writes: Job[] = [];
  /** `urgent` counts the first of `writes` that wait for no others. */
  const state: { draining: Promise<void> | null; closed: boolean; urgent: number } = {
    draining: null,
    closed: false,
    urgent: 0,
  };

  const drain = async (): Promise<void> => {
    while (reads.length + state.urgent > 0) {
      for (const job of reads.splice(0)) await settle(job, watch);
      // Requests that arrived in the same turn of the event loop are still being read: let them join.
      if (state.urgent > 0) await nextTurn();
      if (state.urgent > 0) {
        const batch = writes.splice(0, BATCH_MAX);
        state.urgent = Math.max(0, state.urgent - batch.length);
        await runBatch(database, batch, watch);
      }
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
    state.draining ??= drain();
  };
  /** Writes run in order, so what was called before goes with it. */
  const hurry = (count: number): void => {
    // What waited may have been taken along.
    if (count === 0) return;
    state.urgent = Math.max(state.urgent, count);
    begin();
  };
  return {
    read: (work) => {
      const result = add(reads, work);
      begin();
      return result;
    },
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
      await state.draining;
    },
  };
}

async function settle(job: Job, watch: Watch): Promise<void> {
  try {
    const refusal = watch.refusal();
    if (refusal !== null) throw refusal;
    job.resolve(await job.run());
  } catch (error) {
    job.reject(watch.failed(error));
  }
}

/** One transaction: each job in its own savepoint, answered only when all is on the disk. */
async function runBatch(database: Database, jobs: readonly Job[], watch: Watch): Promise<void> {
  const answers: (() => void)[] = [];
  try {
    const refusal = watch.refusal();
    if (refusal !== null) throw refusal;
    database.all("BEGIN IMMEDIATE");
    database.writing = true;
    watch.begin();
    for (const job of jobs) answers.push(await runInSavepoint(database, job, watch));
    watch.beforeCommit();
    database.all("COMMIT");
    watch.afterCommit();
  } catch (error) {
    rollBack(database);
    const failure = watch.failed(error);
    for (const job of jobs) job.reject(failure);
    return;
  } finally {
    database.writing = false;
  }
  for (const answer of answers) answer();
}

/** Runs a job and returns how to answer it; throws only when the whole transaction is lost. */
async function runInSavepoint(database: Database, job: Job, watch: Watch): Promise<() => void> {
  database.all("SAVEPOINT job");
  try {
    const value = await job.run();
    database.all("RELEASE job");
    return () => job.resolve(value);
  } catch (error) {
    if (!undoJob(database)) throw error;
    const failure = watch.failed(error);
    return () => job.reject(failure);
  }
}

/** False when there is nothing left to undo: a disk that was full in the middle of much has ended the transaction. */
function undoJob(database: Database): boolean {
  try {
    database.all("ROLLBACK TO job");
    database.all("RELEASE job");
    return true;
  } catch {
    return false;
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // A full disk, for one, makes SQLite roll back by itself.
  }
}

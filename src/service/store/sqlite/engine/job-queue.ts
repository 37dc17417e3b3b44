/** All jobs of a store, one after another; writes that wait together share one commit and so one disk sync. */
import { nextTurn } from "../../../../runtime/clock.ts";
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
  write<Result>(work: () => Promise<Result>): Promise<Result>;
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
export function createJobQueue(database: Database, watch: Watch): JobQueue {
  const reads: Job[] = [];
  const writes: Job[] = [];
  const state: { draining: Promise<void> | null; closed: boolean } = { draining: null, closed: false };

  const drain = async (): Promise<void> => {
    while (reads.length + writes.length > 0) {
      for (const job of reads.splice(0)) await settle(job, watch);
      // Requests that arrived in the same turn of the event loop are still being read: let them join.
      if (writes.length > 0) await nextTurn();
      if (writes.length > 0) await runBatch(database, writes.splice(0, BATCH_MAX), watch);
    }
    state.draining = null;
  };
  const add = <Result>(jobs: Job[], work: () => Promise<Result>): Promise<Result> => {
    if (state.closed) return Promise.reject(new Error("the store is closed"));
    return new Promise<Result>((resolve, reject) => {
      jobs.push({ run: work, resolve, reject });
      state.draining ??= drain();
    });
  };
  return {
    read: (work) => add(reads, work),
    write: (work) => add(writes, work),
    close: async () => {
      state.closed = true;
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
    database.all("ROLLBACK TO job");
    database.all("RELEASE job");
    const failure = watch.failed(error);
    return () => job.reject(failure);
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // A full disk, for one, makes SQLite roll back by itself.
  }
}

/** All jobs of a store, one after another; writes that wait together share one commit and so one disk sync. */
import { nextTurn } from "../../../../runtime/next-turn.ts";
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

/** A job that throws rejects alone; a commit that fails rejects its whole batch. */
export function createJobQueue(database: Database): JobQueue {
  const reads: Job[] = [];
  const writes: Job[] = [];
  const state: { draining: Promise<void> | null; closed: boolean } = { draining: null, closed: false };

  const drain = async (): Promise<void> => {
    while (reads.length + writes.length > 0) {
      for (const job of reads.splice(0)) await settle(job);
      // Requests that arrived in the same turn of the event loop are still being read: let them join.
      if (writes.length > 0) await nextTurn();
      if (writes.length > 0) await runBatch(database, writes.splice(0, BATCH_MAX));
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

async function settle(job: Job): Promise<void> {
  try {
    job.resolve(await job.run());
  } catch (error) {
    job.reject(error);
  }
}

/** One transaction: each job in its own savepoint, answered only when all is on the disk. */
async function runBatch(database: Database, jobs: readonly Job[]): Promise<void> {
  const answers: (() => void)[] = [];
  try {
    database.all("BEGIN IMMEDIATE");
    database.writing = true;
    for (const job of jobs) answers.push(await runInSavepoint(database, job));
    database.all("COMMIT");
  } catch (error) {
    rollBack(database);
    for (const job of jobs) job.reject(error);
    return;
  } finally {
    database.writing = false;
  }
  for (const answer of answers) answer();
}

/** Runs a job and returns how to answer it; throws only when the whole transaction is lost. */
async function runInSavepoint(database: Database, job: Job): Promise<() => void> {
  database.all("SAVEPOINT job");
  try {
    const value = await job.run();
    database.all("RELEASE job");
    return () => job.resolve(value);
  } catch (error) {
    database.all("ROLLBACK TO job");
    database.all("RELEASE job");
    return () => job.reject(error);
  }
}

function rollBack(database: Database): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // A full disk, for one, makes SQLite roll back by itself.
  }
}

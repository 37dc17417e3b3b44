/**
 * Writes of each project, one transaction after another; those that wait together share one commit. Different projects
 * run side by side, each on a connection of its own.
 */
import { type Clock, nextTurn } from "../../../runtime/clock.ts";
import type { StoreCommit, StoreWatch, WriteOptions, Transaction } from "../../domain/ports.ts";
import { stateOf } from "../../sql/project-states.ts";
import type { WriteEnd } from "../sql/run-jobs.ts";
import { errorKindOf, unavailable } from "./postgres-errors.ts";
import type { PostgresJob, WriteBatch } from "./write-transaction.ts";

/** PostgreSQL caches so many savepoints of a transaction; more make all others look them up on disk. */
const BATCH_MAX = 64;

export interface QueueOptions {
  readonly clock: Clock;
  /** Runs jobs as one transaction. */
  readonly run: (batch: WriteBatch) => Promise<WriteEnd>;
  readonly onCommit?: StoreWatch["onCommit"];
  /** Called with null after each transaction, else with the error that prevented one. */
  readonly onEnd: (error: unknown) => void;
}

export interface ProjectQueue {
  write<Result>(work: (tx: Transaction) => Promise<Result>, options: WriteOptions): Promise<Result>;
  /** Resolves when everything that was asked before has ended. */
  idle(): Promise<void>;
}

interface Line {
  readonly jobs: PostgresJob[];
  readonly running: Promise<void>;
}

export function createProjectQueue(options: QueueOptions): ProjectQueue {
  const lines = new Map<number | null, Line>();

  const drain = async (project: number | null, jobs: PostgresJob[]): Promise<void> => {
    // Requests that arrived in the same turn of the event loop are still being read: let them join.
    await nextTurn();
    while (jobs.length > 0) await runBatch(options, { project, jobs: jobs.splice(0, BATCH_MAX) });
    lines.delete(project);
  };
  const add = (project: number | null, job: PostgresJob): void => {
    const line = lines.get(project);
    if (line !== undefined) return void line.jobs.push(job);
    const jobs = [job];
    lines.set(project, { jobs, running: drain(project, jobs) });
  };
  return {
    write: async (work, { project, mayWaitMs = 0, isLong = false }) => {
      if (mayWaitMs > 0) await options.clock.sleep(mayWaitMs);
      return new Promise((resolve, reject) => {
        add(stateOf(project), { work, isLong, resolve: resolve as (value: unknown) => void, reject });
      });
    },
    idle: async () => {
      while (lines.size > 0) await Promise.all([...lines.values()].map(({ running }) => running));
    },
  };
}

/** Answers every job, whatever happens. */
async function runBatch(options: QueueOptions, batch: WriteBatch): Promise<void> {
  const { clock, run, onCommit, onEnd } = options;
  const beganMs = clock.monotonic();
  const jobs = batch.jobs.length;
  const tell = (outcome: StoreCommit["outcome"]): void =>
    onCommit?.({ outcome, jobs, seconds: (clock.monotonic() - beganMs) / 1000 });
  try {
    const { outcome, answers } = await run(batch);
    tell(outcome);
    onEnd(null);
    for (const answer of answers) answer();
  } catch (error) {
    tell("rolled_back");
    if (errorKindOf(error) === "fault" && batch.jobs.length > 1) {
      // One of them is to blame: each is tried by itself.
      for (const job of batch.jobs) await runBatch(options, { ...batch, jobs: [job] });
      return;
    }
    const failure = errorKindOf(error) === "fault" ? error : unavailable(error);
    onEnd(failure);
    for (const { reject } of batch.jobs) reject(failure);
  }
}

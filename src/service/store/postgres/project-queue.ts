/**
 * Runs each project's writes one transaction after another; waiting writes share a commit. Different projects run in
 * parallel on separate connections.
 */
import { type Clock, nextTurn } from "../../../runtime/clock.ts";
import type { StoreCommit, StoreWatch, WriteOptions, Transaction } from "../../domain/ports.ts";
import { projectToLock } from "../../sql/project-states.ts";
import type { WriteEnd } from "../sql/run-jobs.ts";
import { classifyError, unavailable } from "./postgres-errors.ts";
import type { PostgresJob, WriteBatch } from "./write-transaction.ts";

/** PostgreSQL caches 64 savepoints per transaction; with more, other sessions must read them from disk. */
const BATCH_MAX = 64;

export interface QueueOptions {
  readonly clock: Clock;
  readonly run: (batch: WriteBatch) => Promise<WriteEnd>;
  readonly onCommit?: StoreWatch["onCommit"];
  /** Called after each transaction with null, or the error that prevented one. */
  readonly onEnd: (error: unknown) => void;
}

export interface ProjectQueue {
  write<Result>(work: (tx: Transaction) => Promise<Result>, options: WriteOptions): Promise<Result>;
  /** Resolves when all jobs queued so far have ended. */
  idle(): Promise<void>;
}

interface Line {
  readonly jobs: PostgresJob[];
  readonly running: Promise<void>;
}

export function createProjectQueue(options: QueueOptions): ProjectQueue {
  const lines = new Map<number | null, Line>();

  const drain = async (project: number | null, jobs: PostgresJob[]): Promise<void> => {
    // Lets requests join that arrived in the same turn of the event loop.
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
        add(projectToLock(project), { work, isLong, resolve: resolve as (value: unknown) => void, reject });
      });
    },
    idle: async () => {
      while (lines.size > 0) await Promise.all([...lines.values()].map(({ running }) => running));
    },
  };
}

/** Settles every job. */
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
    if (classifyError(error) === "fault" && batch.jobs.length > 1) {
      // One job caused the failure: try each separately.
      for (const job of batch.jobs) await runBatch(options, { ...batch, jobs: [job] });
      return;
    }
    const failure = classifyError(error) === "fault" ? error : unavailable(error);
    onEnd(failure);
    for (const { reject } of batch.jobs) reject(failure);
  }
}

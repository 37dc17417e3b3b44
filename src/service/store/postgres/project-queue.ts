/** Each project's writes run one transaction after another; different projects use separate connections. */
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
  /** Called after each transaction with null, or with the error that prevented it. */
  readonly onEnd: (error: unknown) => void;
}

interface Line {
  readonly jobs: PostgresJob[];
  readonly running: Promise<void>;
}

export class ProjectQueue {
  readonly #options: QueueOptions;
  readonly #lines = new Map<number | null, Line>();

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  async write<Result>(
    work: (tx: Transaction) => Promise<Result>,
    { project, mayWaitMs = 0, isLong = false }: WriteOptions,
  ): Promise<Result> {
    if (mayWaitMs > 0) await this.#options.clock.sleep(mayWaitMs);
    return new Promise((resolve, reject) => {
      this.#add(projectToLock(project), { work, isLong, resolve: resolve as (value: unknown) => void, reject });
    });
  }

  async idle(): Promise<void> {
    while (this.#lines.size > 0) await Promise.all([...this.#lines.values()].map(({ running }) => running));
  }

  #add(project: number | null, job: PostgresJob): void {
    const line = this.#lines.get(project);
    if (line !== undefined) return void line.jobs.push(job);
    const jobs = [job];
    this.#lines.set(project, { jobs, running: this.#drain(project, jobs) });
  }

  async #drain(project: number | null, jobs: PostgresJob[]): Promise<void> {
    // Lets requests that arrive in the same turn of the event loop join the batch.
    await nextTurn();
    while (jobs.length > 0) await this.#runBatch({ project, jobs: jobs.splice(0, BATCH_MAX) });
    this.#lines.delete(project);
  }

  async #runBatch(batch: WriteBatch): Promise<void> {
    const { clock, run, onCommit, onEnd } = this.#options;
    const beganMs = clock.monotonic();
    const jobs = batch.jobs.length;
    const reportCommit = (outcome: StoreCommit["outcome"]): void =>
      onCommit?.({ outcome, jobs, seconds: (clock.monotonic() - beganMs) / 1000 });
    try {
      const { outcome, answers } = await run(batch);
      reportCommit(outcome);
      onEnd(null);
      for (const answer of answers) answer();
    } catch (error) {
      reportCommit("rolled_back");
      const isFault = classifyError(error) === "fault";
      if (isFault && jobs > 1) {
        // One of the jobs caused the failure, so each is tried separately.
        for (const job of batch.jobs) await this.#runBatch({ ...batch, jobs: [job] });
        return;
      }
      const failure = isFault ? error : unavailable(error);
      onEnd(failure);
      for (const { reject } of batch.jobs) reject(failure);
    }
  }
}

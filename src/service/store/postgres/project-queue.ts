/**
 * Writes of each project, one transaction after another; those that wait together share one commit. Different projects
 * run side by side, each on a connection of its own.
 */
import { type Clock, nextTurn } from "../../../runtime/clock.ts";
import type { Random } from "../../../runtime/random.ts";
import type { StoreWatch, WriteOptions } from "../../domain/ports.ts";
import { stateOf } from "../sql/project-states.ts";
import type { StoreTransaction } from "../sql/store-rows.ts";
import { errorKindOf, unavailable } from "./postgres-errors.ts";
import {
  type JobAnswer,
  CommitLost,
  GroupFailed,
  type WriteJob,
  JobFailed,
  type CommitOutcome,
  type TransactionMark,
} from "./transaction.ts";

/** More would make the first of them wait too long. */
const BATCH_MAX = 256;
const TRIES_MAX = 5;
const RETRY_MS = 20;
/** How often a transaction that still runs is asked after. */
const ASKS_MAX = 20;
/** The longest pause for each answered caller: 99 of 100 times all of 16 busy callers have asked again by then. */
const RETURN_MS = 0.3;
/** The longest pause for all of them together. */
const GATHER_MAX_MS = 5;
/** No transaction is begun again after that: one may wait 5 s for a connection and 8 s for its project. */
const PATIENCE_MS = 2_000;

export interface QueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Runs jobs as one transaction on a connection. */
  readonly run: (
    project: number | null,
    jobs: readonly WriteJob[],
    how: { readonly isSerial: boolean },
  ) => Promise<readonly JobAnswer[]>;
  /** What became of a transaction whose COMMIT was not answered. */
  readonly ask: (transaction: TransactionMark) => Promise<CommitOutcome>;
  /** Prepared statements are of no use any more. */
  readonly unprepare: () => void;
  readonly onCommit?: StoreWatch["onCommit"];
  readonly onRetry?: StoreWatch["onRetry"];
  /** With null after each commit, else with what kept one from happening. */
  readonly onEnd: (error: unknown) => void;
}

export interface ProjectQueue {
  write<Result>(work: (tx: StoreTransaction) => Promise<Result>, options?: WriteOptions): Promise<Result>;
  /** Resolves when everything that was asked before has ended. */
  idle(): Promise<void>;
}

interface Line {
  readonly jobs: WriteJob[];
  running: Promise<void> | null;
  /** How many jobs the next transaction waits for. */
  gathering: { readonly count: number; readonly end: () => void } | null;
}

export function createProjectQueue(options: QueueOptions): ProjectQueue {
  const { clock } = options;
  const lines = new Map<number | null, Line>();

  const drain = async (project: number | null, line: Line): Promise<void> => {
    // Requests that arrived in the same turn of the event loop are still being read: let them join.
    await nextTurn();
    while (line.jobs.length > 0) {
      const jobs = line.jobs.splice(0, BATCH_MAX);
      await runBatch(options, project, jobs);
      await gather(line, jobs.length);
    }
    line.running = null;
    lines.delete(project);
  };
  /**
   * Answered clients may ask again at once. Without this pause the next transaction would hold only requests that
   * missed this one, so each client would be served in every second transaction.
   */
  const gather = async (line: Line, answered: number): Promise<void> => {
    if (answered === 1) return;
    const count = line.jobs.length + answered;
    await Promise.race([
      clock.sleep(Math.min(answered * RETURN_MS, GATHER_MAX_MS)),
      new Promise<void>((resolve) => {
        line.gathering = { count, end: resolve };
      }),
    ]);
    line.gathering = null;
  };
  const lineOf = (project: number | null): Line => {
    const known = lines.get(project) ?? { jobs: [], running: null, gathering: null };
    lines.set(project, known);
    return known;
  };
  return {
    write: async (work, { project: named, mayWaitMs = 0, beside, isLong = false }: WriteOptions = {}) => {
      const project = stateOf(named);
      if (mayWaitMs > 0) await clock.sleep(mayWaitMs);
      return new Promise((resolve, reject) => {
        const line = lineOf(project);
        line.jobs.push({ work, beside: beside ?? null, isLong, resolve: resolve as (value: unknown) => void, reject });
        if (line.jobs.length === line.gathering?.count) line.gathering.end();
        line.running ??= drain(project, line);
      });
    },
    idle: async () => {
      while (lines.size > 0) await Promise.all([...lines.values()].flatMap(({ running }) => running ?? []));
    },
  };
}

/** Answers every job, whatever happens. */
async function runBatch(options: QueueOptions, project: number | null, jobs: readonly WriteJob[]): Promise<void> {
  const beganMs = options.clock.monotonic();
  const tell = (outcome: "committed" | "rolled_back"): void =>
    options.onCommit?.({ outcome, jobs: jobs.length, seconds: (options.clock.monotonic() - beganMs) / 1000 });
  try {
    const answers = await retry(options, (isSerial) => options.run(project, jobs, { isSerial }));
    tell("committed");
    options.onEnd(null);
    for (const answer of answers) answer();
  } catch (error) {
    tell("rolled_back");
    if (error instanceof JobFailed) return jobs[0]?.reject(error.error);
    if (errorKindOf(error) === "fault" && jobs.length > 1) {
      // One of them is to blame: each is tried by itself.
      for (const job of jobs) await runBatch(options, project, [job]);
      return;
    }
    const failure = errorKindOf(error) === "fault" ? error : unavailable(error);
    options.onEnd(failure);
    for (const job of jobs) job.reject(failure);
  }
}

/** Retries a transaction that failed for a passing reason, but never one that may have been committed. */
async function retry(
  options: QueueOptions,
  run: (isSerial: boolean) => Promise<readonly JobAnswer[]>,
): Promise<readonly JobAnswer[]> {
  const { clock, random } = options;
  const began = clock.monotonic();
  let isSerial = false;
  for (let tries = 1; ; tries += 1) {
    try {
      return await run(isSerial);
    } catch (error) {
      // One of those that ran side by side threw: each is now run by itself.
      if (error instanceof GroupFailed) {
        isSerial = true;
        continue;
      }
      const answers = error instanceof CommitLost ? await findOut(options, error) : null;
      if (answers !== null) return answers;
      const kind = error instanceof CommitLost ? "again" : errorKindOf(error);
      if (kind === "unprepared") options.unprepare();
      const isHopeless = error instanceof JobFailed || kind === "fault" || kind === "unavailable";
      if (isHopeless || tries === TRIES_MAX || clock.monotonic() - began > PATIENCE_MS)
        throw error instanceof CommitLost ? unavailable(error) : error;
      options.onRetry?.(sqlstateOf(error));
      await clock.sleep(RETRY_MS * tries * (1 + random.fraction()));
    }
  }
}

function sqlstateOf(error: unknown): string {
  const { code } = (error instanceof CommitLost ? error.cause : error) as { readonly code?: unknown };
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "none";
}

/** The answers of a transaction that was committed; null of one that was not. Throws when nobody knows. */
async function findOut({ clock, ask }: QueueOptions, lost: CommitLost): Promise<readonly JobAnswer[] | null> {
  for (let asks = 1; asks <= ASKS_MAX; asks += 1) {
    const outcome = await ask(lost.transaction).catch((): CommitOutcome => "in progress");
    if (outcome === "committed") return lost.answers;
    if (outcome === "aborted") return null;
    if (outcome === "unknown") break;
    await clock.sleep(RETRY_MS * asks);
  }
  throw unavailable(lost);
}

/** A batch of jobs as one transaction: the project's row first, so that the rest is as if it ran alone. */
import type { PoolClient } from "pg";
import type { SideBySide } from "../../domain/ports.ts";
import type { SqlRow } from "../sql/database.ts";
import type { StoreTransaction } from "../sql/store-rows.ts";
import { NO_PROJECT, PROJECT_STATE } from "../sql/project-states.ts";
import type { ConnectionSession } from "./postgres-database.ts";
import { errorKindOf, isOfServer } from "./postgres-errors.ts";
import { SkippedStatement } from "./statement-piece.ts";

export interface WriteJob {
  readonly work: (tx: StoreTransaction) => Promise<unknown>;
  /** See `WriteOptions`. */
  readonly beside: SideBySide | null;
  /** Whether it may take minutes. */
  readonly isLong: boolean;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
}

/** How a job is answered once its transaction is known to be committed. */
export type JobAnswer = () => void;

/** Identifies a transaction after its end. */
export interface TransactionMark {
  readonly xid: string;
  /** One that it locked, and that project's version before it. */
  readonly project: number;
  readonly version: number;
}

/** The answer to COMMIT is missing. */
export class CommitLost extends Error {
  override readonly name = "CommitLost";
  readonly transaction: TransactionMark;
  readonly answers: readonly JobAnswer[];

  constructor(transaction: TransactionMark, answers: readonly JobAnswer[], options: ErrorOptions) {
    super("the answer to COMMIT is missing", options);
    this.transaction = transaction;
    this.answers = answers;
  }
}

/**
 * Limits of the transaction alone: a pooler may give the connection to another process afterwards. A stalled
 * transaction locks its project; the idle timeout (6 s) ends it before waiting requests give up (8 s).
 */
const LIMITS = `SELECT set_config('lock_timeout', '8s', true), set_config('statement_timeout', '10s', true),
  set_config('idle_in_transaction_session_timeout', '6s', true)`;
const NO_LIMITS =
  "SELECT set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true)";
const BEGIN_READ = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/** A stalled read blocks nobody, but the server keeps deleted rows that it may still read. */
const READ_LIMITS = `SELECT set_config('statement_timeout', '5s', true),
  set_config('idle_in_transaction_session_timeout', '60s', true)`;

const LOCK = `SELECT s.project_id, s."nextId", s.clock, s.version, CAST(pg_current_xact_id() AS TEXT) AS xid,
  CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) AS now FROM`;
const LOCK_ONE = `${LOCK} (${PROJECT_STATE} WHERE project_id = ? FOR NO KEY UPDATE) AS s`;
/**
 * A write that may change any project locks all of them, in order, so that two such writes never wait for each other.
 */
const LOCK_ALL = `${LOCK} (${PROJECT_STATE} ORDER BY project_id FOR NO KEY UPDATE) AS s`;

export interface TimeSource {
  /** Called with the milliseconds for which a transaction waited for its project. */
  readonly onLocked: (ms: number) => void;
  readonly monotonic: () => number;
  /** Unix milliseconds of a transaction, from those of the database. */
  readonly at: (databaseMs: number) => number;
  /** Called with the Unix seconds of each write, which a later read must not fall behind. */
  readonly passed: (seconds: number) => void;
}

/**
 * Runs jobs as one transaction and returns how to answer them; a job that throws is undone alone. Throws CommitLost,
 * and what ended the transaction otherwise: then nothing of it was done.
 */
export async function runWrite(
  session: ConnectionSession,
  client: PoolClient,
  batch: { readonly project: number | null; readonly jobs: readonly WriteJob[]; readonly isSerial: boolean },
  time: TimeSource,
): Promise<readonly JobAnswer[]> {
  const { project, jobs, isSerial } = batch;
  session.begin(client, { writing: true, project });
  const askedMs = time.monotonic();
  const held = await lock(session, project, jobs);
  time.onLocked(time.monotonic() - askedMs);
  const [first] = held;
  if (first === undefined) throw new Error(`there is no project ${project ?? NO_PROJECT}`);
  session.states.hold(held);
  const nowMs = time.at(Number(first.now));
  const now = Math.max(Math.floor(nowMs / 1000), ...held.map(({ clock }) => Number(clock)));
  time.passed(now);
  // One for all jobs, which share most of it.
  const tx = session.rows.begin(now, nowMs);
  const answers: JobAnswer[] = [];
  for (const group of isSerial ? jobs.map((job) => [job]) : toGroups(jobs)) {
    const [job] = group;
    if (group.length > 1) answers.push(...(await runTogether(session, group, tx)));
    else if (job !== undefined) answers.push(await runJob(session, job, tx, jobs.length === 1));
  }
  await session.rows.flush();
  if (session.changes() > 0 || session.states.isChanged())
    for (const { sql, values } of session.states.end(now)) session.database.send(sql, values);
  await commit(session, toMark(first), answers);
  return answers;
}

function lock(
  session: ConnectionSession,
  project: number | null,
  jobs: readonly WriteJob[],
): Promise<readonly SqlRow[]> {
  return session.atOnce(() => {
    session.tell("BEGIN");
    session.tell(LIMITS);
    if (jobs.some(({ isLong }) => isLong)) session.tell(NO_LIMITS);
    const locking = project === null ? session.ask(LOCK_ALL) : session.ask(LOCK_ONE, [project]);
    session.rows.prepare();
    session.ahead(() => {
      const tx = session.rows.begin(0);
      for (const { beside } of jobs) void beside?.ahead?.(tx).catch(() => undefined);
    });
    return locking;
  });
}

/** Neighbours of one kind with different subjects; each other job by itself. */
function toGroups(jobs: readonly WriteJob[]): readonly (readonly WriteJob[])[] {
  const groups: WriteJob[][] = [];
  const last = { kind: null as string | null, subjects: new Set<string>() };
  for (const job of jobs) {
    const { kind = null, subject = "" } = job.beside ?? {};
    if (kind !== null && kind === last.kind && !last.subjects.has(subject)) groups.at(-1)?.push(job);
    else {
      groups.push([job]);
      last.subjects = new Set();
    }
    last.kind = kind;
    last.subjects.add(subject);
  }
  return groups;
}

/** Some of the jobs that ran side by side threw. */
export class GroupFailed extends Error {
  override readonly name = "GroupFailed";
}

/** The jobs send their questions together, in one round trip. None of them can be undone alone. */
async function runTogether(
  session: ConnectionSession,
  jobs: readonly WriteJob[],
  tx: StoreTransaction,
): Promise<JobAnswer[]> {
  session.together(true);
  const results = await Promise.allSettled(jobs.map((job) => job.work(tx)));
  session.together(false);
  if (session.failure() !== undefined) throw session.failure();
  return jobs.map((job, at) => {
    const result = results[at];
    if (result?.status !== "fulfilled") throw new GroupFailed("a job threw", { cause: result?.reason });
    return () => job.resolve(result.value);
  });
}

/** A single job needs no savepoint: its error ends the transaction. */
async function runJob(
  session: ConnectionSession,
  job: WriteJob,
  tx: StoreTransaction,
  isAlone: boolean,
): Promise<JobAnswer> {
  if (!isAlone) session.tell("SAVEPOINT job");
  const mark = session.states.mark();
  const uncount = session.rows.mark();
  try {
    const value = await job.work(tx);
    if (!isAlone) session.tell("RELEASE job");
    return () => job.resolve(value);
  } catch (error) {
    if (session.failure() !== undefined) throw session.failure();
    if (isAlone) throw new JobFailed(error);
    // Waiting statements may fail: sent before the rollback, they are undone with the rest of the job.
    session.flush();
    session.tell("ROLLBACK TO job");
    session.tell("RELEASE job");
    session.states.restore(mark);
    uncount();
    return () => job.reject(error);
  }
}

/** The only job of a transaction threw: it is rejected with this. */
export class JobFailed extends Error {
  override readonly name = "JobFailed";
  readonly error: unknown;

  constructor(error: unknown) {
    super("the job failed", { cause: error });
    this.error = error;
  }
}

function toMark({ xid, project_id: project, version }: SqlRow): TransactionMark {
  return { xid: String(xid), project: Number(project), version: Number(version) };
}

/** COMMIT leaves together with the last changes; the server skips it when one of them failed. */
async function commit(
  session: ConnectionSession,
  transaction: TransactionMark,
  answers: readonly JobAnswer[],
): Promise<void> {
  const ending = session.command("COMMIT");
  const [sent, ended] = await Promise.allSettled([session.settle(), ending]);
  if (ended.status === "fulfilled") {
    if (ended.value === "COMMIT") return;
    throw sent.status === "rejected" ? sent.reason : new Error(`the transaction ended with ${ended.value}`);
  }
  if (ended.reason instanceof SkippedStatement) throw session.failure() ?? ended.reason;
  if (isOfServer(ended.reason) && errorKindOf(ended.reason) === "fault") throw ended.reason;
  throw new CommitLost(transaction, answers, { cause: ended.reason });
}

/** What became of a transaction whose COMMIT was not answered; asked on another connection. */
export type CommitOutcome = "committed" | "aborted" | "in progress" | "unknown";

/**
 * A server that crashed may have forgotten the transaction and given its number to another one, so a commit must also
 * show in the project's version.
 */
export async function askOutcome(
  client: PoolClient,
  { xid, project, version }: TransactionMark,
): Promise<CommitOutcome> {
  const status = await askStatus(client, xid);
  if (status !== "committed") return status;
  const { rows } = await client.query("SELECT 1 FROM project_state WHERE project_id = $1 AND version > $2", [
    project,
    version,
  ]);
  return rows.length > 0 ? "committed" : "aborted";
}

/** A number that was not given out yet. */
const IN_THE_FUTURE = "22023";

async function askStatus(client: PoolClient, xid: string): Promise<CommitOutcome> {
  try {
    const { rows } = await client.query<{ status: CommitOutcome | null }>("SELECT pg_xact_status($1::xid8) AS status", [
      xid,
    ]);
    return rows[0]?.status ?? "unknown";
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === IN_THE_FUTURE) return "aborted";
    throw error;
  }
}

/** Runs `work` on one snapshot. */
export async function runRead<Result>(
  session: ConnectionSession,
  client: PoolClient,
  { now, isLong }: { readonly now: number; readonly isLong: boolean },
  work: (tx: StoreTransaction) => Promise<Result>,
): Promise<Result> {
  session.begin(client, { writing: false, project: null });
  session.tell(BEGIN_READ);
  session.tell(isLong ? NO_LIMITS : READ_LIMITS);
  const result = await work(session.rows.begin(now));
  // Only the connection's next user waits for the answer.
  session.tell("COMMIT");
  session.flush();
  return result;
}

/** A batch of writes as one transaction. It locks the project's row first, which serializes writes. */
import { allOrFirstError } from "../../domain/by-project.ts";
import type { Clock } from "../../../runtime/clock.ts";
import type { StoreWatch } from "../../domain/ports.ts";
import type { SqlRow } from "../../sql/database.ts";
import { NO_PROJECT } from "../../sql/project-states.ts";
import { runJobs, type WriteEnd, type WriteJob } from "../sql/run-jobs.ts";
import type { StoreRows } from "../sql/store-rows.ts";
import { type TransactionMark, toMark } from "./commit-outcome.ts";
import type { DatabaseTime } from "./database-time.ts";
import { classifyError, isOfServer } from "./postgres-errors.ts";
import { LOCK_STATE, type TransactionDatabase } from "./transaction-database.ts";

export interface PostgresJob extends WriteJob {
  readonly isLong: boolean;
}

export interface WriteBatch {
  readonly project: number | null;
  readonly jobs: readonly PostgresJob[];
}

export class CommitLost extends Error {
  override readonly name = "CommitLost";
  readonly transaction: TransactionMark;
  readonly end: WriteEnd;

  constructor(transaction: TransactionMark, end: WriteEnd, options: ErrorOptions) {
    super("the answer to COMMIT is missing", options);
    this.transaction = transaction;
    this.end = end;
  }
}

export interface WriteTools extends Pick<StoreWatch, "onLocked"> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly time: DatabaseTime;
}

/** Limits are set per transaction, because a pooler may hand the connection to another process. */
const BEGIN = "BEGIN; SET LOCAL lock_timeout = '8s'";
/** The idle timeout ends a stalled transaction before the requests that wait for its project give up. */
const LIMITS = "SET LOCAL statement_timeout = '10s'; SET LOCAL idle_in_transaction_session_timeout = '6s'";
const NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

const OTHER_PROJECTS = `SELECT project_id FROM project_state WHERE project_id <> ${NO_PROJECT} ORDER BY project_id`;
/** Reads no table: otherwise Citus would run it on the table's node, in another transaction with another clock. */
const BEGUN = `SELECT CAST(pg_current_xact_id() AS TEXT) AS xid,
  CAST(floor(extract(epoch FROM clock_timestamp()) * 1000) AS BIGINT) AS now`;

/** Throws CommitLost, or another error if nothing was committed. */
export async function runWrite(
  database: TransactionDatabase,
  rows: StoreRows,
  { project, jobs }: WriteBatch,
  { clock, time, onLocked }: WriteTools,
): Promise<WriteEnd> {
  const { states } = database;
  const beganMs = clock.monotonic();
  database.sendControl(`${BEGIN}; ${jobs.some(({ isLong }) => isLong) ? NO_LIMITS : LIMITS}`);
  // The server runs these in order, so the time is read while the project is locked. Only the first error is
  // meaningful: after it, the server just reports that the transaction is aborted.
  const [held = [], [begun] = []] = await allOrFirstError([lockStates(database, project), database.all(BEGUN)]);
  await database.settle();
  onLocked?.((clock.monotonic() - beganMs) / 1000);
  const [first] = held;
  if (first === undefined) throw new Error(`there is no project ${project ?? NO_PROJECT}`);
  for (const row of held) states.hold(row);
  const now = time.ofWrite(Number(begun?.now), Math.max(...held.map((row) => Number(row.clock))));
  const end = await runJobs(database, rows.begin(now), jobs);
  if (end.outcome === "committed") await commit(database, toMark({ ...first, ...begun }), end);
  else await database.command("ROLLBACK");
  return end;
}

async function lockStates(database: TransactionDatabase, project: number | null): Promise<readonly SqlRow[]> {
  const held = await database.all(LOCK_STATE, [project ?? NO_PROJECT]);
  // A removed project has no row to lock, so its writes lock `NO_PROJECT` instead.
  if (project !== null) return held.length > 0 ? held : database.all(LOCK_STATE, [NO_PROJECT]);
  // No project can be added now, because that locks `NO_PROJECT` too. The order prevents deadlocks. Each row has its
  // own statement, because Citus locks rows of only one project at a time.
  const others = await database.all(OTHER_PROJECTS);
  const locked = await Promise.all(others.map(({ project_id: id = null }) => database.all(LOCK_STATE, [id])));
  return [...held, ...locked.flat()];
}

async function commit(database: TransactionDatabase, transaction: TransactionMark, end: WriteEnd): Promise<void> {
  let done: string;
  try {
    done = await database.command("COMMIT");
  } catch (error) {
    // The server rejected the commit. After any other error, the outcome is uncertain.
    if (isOfServer(error) && classifyError(error) === "fault") throw error;
    throw new CommitLost(transaction, end, { cause: error });
  }
  if (done === "COMMIT") return;
  await database.settle();
  throw new Error(`the transaction ended with ${done}`);
}

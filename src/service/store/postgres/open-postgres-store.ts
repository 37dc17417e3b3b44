/** The store on a PostgreSQL server, which other processes may use at the same time. */
import type pg from "pg";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { type Random, systemRandom } from "../../../runtime/random.ts";
import type { ReadOptions, Store, StoreWatch, Transaction, Vacuumed, WriteOptions } from "../../domain/ports.ts";
import { createStepLoop } from "../sql/rows/long-changes.ts";
import { FIND_MISCOUNTED } from "../sql/schema/kept-counts.ts";
import { MIGRATIONS, newestOf } from "../sql/schema/migrations.ts";
import { READ_MARKS, refusalByMarks, type StoreOpening } from "../sql/store-marks.ts";
import type { StoreTransaction } from "../sql/store-rows.ts";
import { StoreDatabaseError, type StoreEvent } from "../store-errors.ts";
import { openPool, readTarget } from "./connections.ts";
import { createDeadlines } from "./deadlines.ts";
import { migrateServer } from "./migrate.ts";
import { createSession, type ConnectionSession } from "./postgres-database.ts";
import { errorKindOf, unavailable } from "./postgres-errors.ts";
import { createProjectQueue } from "./project-queue.ts";
import { createStatements } from "./statements.ts";
import { askOutcome, runRead, runWrite, type TimeSource } from "./transaction.ts";

export interface PostgresStoreOptions extends StoreWatch, StoreOpening {
  readonly url: string;
  readonly clock: Clock;
  readonly random?: Random;
  /** Where the time of writes comes from; `database`, the default, is one clock for all processes. */
  readonly time?: "database" | "clock";
  /** False: an older schema is refused. */
  readonly mayMigrate?: boolean;
  readonly onEvent?: (event: StoreEvent) => void;
  /** See `SqliteStoreOptions`. */
  readonly appUrl?: () => string;
  readonly onWebhookEvent?: () => void;
  readonly blockRows?: number;
}

/** No answer waits longer for the database. */
const WRITE_MS = 12_000;
const READ_MS = 5_000;
const READS_MAX = 3;
/** No read is begun again after that. */
const PATIENCE_MS = 2_000;

/** Brings the schema up to date. Throws StoreDatabaseError. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock, mayMigrate = true, filledBy } = options;
  const target = readTarget(url);
  const pool = openPool(target);
  try {
    const client = await pool.connect();
    try {
      await migrateServer(client, { clock, mayMigrate, ...(filledBy === undefined ? {} : { filledBy }) });
      await refuseMarked(client, options);
    } finally {
      client.release();
    }
  } catch (error) {
    await pool.end();
    throw errorKindOf(error) === "fault" ? error : unavailable(error);
  }
  return createStore(pool, options, target.isPrepared);
}

function createStore(pool: pg.Pool, options: PostgresStoreOptions, isPrepared: boolean): Store {
  const { clock, random = systemRandom, time = "database" } = options;
  const { appUrl = () => "", onWebhookEvent = () => undefined, onEvent = () => undefined, blockRows } = options;
  const state = {
    isPrepared,
    isClosed: false,
    trouble: null as StoreDatabaseError | null,
    /** Seconds by which the database's clock is ahead of ours. */
    ahead: 0,
    /** Of the newest write here: a server whose clock is set back must not hide what was due. */
    newest: 0,
  };
  const statementOf = createStatements();
  const isNoted = { value: true };
  const idle: ConnectionSession[] = [];
  const makeSession = (): ConnectionSession =>
    createSession({
      random,
      appUrl,
      onWebhookEvent,
      blockRows,
      isShared: true,
      isNoted,
      statementOf,
      isPrepared: () => state.isPrepared,
      timing: { clock, onSlow: (statement, seconds) => onEvent({ kind: "slow", statement, seconds }) },
    });
  const timeSource: TimeSource = {
    monotonic: () => clock.monotonic(),
    onLocked: (ms) => options.onLocked?.(ms / 1000),
    at: (ms) => {
      if (time === "clock") return clock.now();
      state.ahead = Math.floor(ms / 1000) - unixSeconds(clock);
      return ms;
    },
    passed: (seconds) => {
      state.newest = Math.max(state.newest, seconds);
    },
  };
  const deadlines = createDeadlines(clock, breakOff);
  const onEnd = (error: unknown): void => {
    const trouble = error instanceof StoreDatabaseError ? error : null;
    if (trouble !== null && state.trouble?.trouble !== trouble.trouble) onEvent({ kind: "trouble", error: trouble });
    if (trouble === null && error === null && state.trouble !== null) onEvent({ kind: "recovered" });
    if (trouble !== null || error === null) state.trouble = trouble;
  };

  /** What was sent without waiting has to be done before others may have the connection. */
  const giveBack = async (session: ConnectionSession, client: pg.PoolClient): Promise<void> => {
    try {
      await session.settle();
      idle.push(session);
      client.release();
    } catch {
      client.release(true);
    }
  };
  /** Lends a connection to `work`; one that takes too long, or failed in the middle, is not used again. */
  const withSession = async <Result>(
    limitMs: number | null,
    work: (session: ConnectionSession, client: pg.PoolClient) => Promise<Result>,
  ): Promise<Result> => {
    const client = await pool.connect();
    const session = idle.pop() ?? makeSession();
    if (limitMs !== null) deadlines.set(client, limitMs);
    try {
      const result = await work(session, client);
      deadlines.clear(client);
      void giveBack(session, client);
      return result;
    } catch (error) {
      deadlines.clear(client);
      await endFailed(client);
      throw error;
    }
  };
  const queue = createProjectQueue({
    ...options,
    clock,
    random,
    run: (project, jobs, { isSerial }) =>
      withSession(jobs.some(({ isLong }) => isLong) ? null : WRITE_MS, (session, client) =>
        runWrite(session, client, { project, jobs, isSerial }, timeSource),
      ),
    ask: (transaction) => withClient(pool, (client) => askOutcome(client, transaction)),
    unprepare: () => {
      state.isPrepared = false;
    },
    onEnd,
  });
  const read = async <Result>(
    work: (tx: Transaction) => Promise<Result>,
    { isLong = false }: ReadOptions = {},
  ): Promise<Result> => {
    const began = clock.monotonic();
    for (let tries = 1; ; tries += 1) {
      try {
        const now = Math.max(unixSeconds(clock) + state.ahead, state.newest);
        const result = await withSession(isLong ? null : READ_MS, (session, client) =>
          runRead(session, client, { now, isLong }, work),
        );
        if (state.trouble !== null) onEnd(null);
        return result;
      } catch (error) {
        const kind = errorKindOf(error);
        if (kind === "fault") throw error;
        if (kind === "unprepared") state.isPrepared = false;
        if (kind === "unavailable" || tries === READS_MAX || clock.monotonic() - began > PATIENCE_MS) {
          onEnd(unavailable(error));
          throw unavailable(error);
        }
      }
    }
  };
  const write = <Result>(work: (tx: StoreTransaction) => Promise<Result>, how?: WriteOptions): Promise<Result> =>
    state.isClosed ? Promise.reject(new Error("the store is closed")) : queue.write(work, how);
  const loop = createStepLoop(
    () => isNoted.value && !state.isClosed,
    () => write((tx) => tx.step()),
  );
  return {
    isShared: true,
    about: { engine: "postgresql", schema: newestOf(MIGRATIONS) },
    connections: () => {
      const { totalCount, idleCount, waitingCount } = pool;
      return { active: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    },
    oldestTransaction: () => withClient(pool, readOldest),
    trouble: () => state.trouble,
    lost: new Promise(() => undefined),
    read: (work, how) => (state.isClosed ? Promise.reject(new Error("the store is closed")) : read(work, how)),
    write: (work, how) => write(work, how).finally(loop.start),
    settle: loop.settle,
    verify: () => Promise.resolve(),
    backup: () => Promise.reject(new StoreDatabaseError("unsupported", "use pg_dump to back up a database")),
    vacuum: () => withClient(pool, vacuum),
    clean: () => Promise.resolve(null),
    check: () =>
      withClient(pool, async (client) => {
        const found: string[] = [];
        for (const sql of FIND_MISCOUNTED)
          for (const { project_id: project, list } of (await client.query(sql)).rows as Record<string, unknown>[])
            found.push(`the counts of ${String(list)} in project ${String(project)} are wrong`);
        return found;
      }),
    close: async () => {
      await queue.idle();
      state.isClosed = true;
      await loop.settle().catch(() => undefined);
      deadlines.close();
      await pool.end();
    },
  };
}

async function readOldest(client: pg.PoolClient): Promise<number> {
  const { rows } = await client.query<{ age: number }>(OLDEST_TRANSACTION);
  return Number(rows[0]?.age);
}

const OLDEST_TRANSACTION = `SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0) AS age
  FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`;

/** Rows that were deleted go; what else the server keeps of them, such as its log, ends with its own retention. */
async function vacuum(client: pg.PoolClient): Promise<Vacuumed> {
  const size = async (): Promise<number> => {
    const { rows } = await client.query("SELECT pg_database_size(current_database()) AS bytes");
    return Number((rows[0] as { readonly bytes: unknown } | undefined)?.bytes);
  };
  const bytesBefore = await size();
  await client.query("VACUUM");
  return { bytesBefore, bytesAfter: await size() };
}

async function withClient<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect();
  try {
    const result = await work(client);
    client.release();
    return result;
  } catch (error) {
    client.release(true);
    throw error;
  }
}

async function refuseMarked(client: pg.PoolClient, opening: StoreOpening): Promise<void> {
  const refusal = refusalByMarks((await client.query<Record<string, string>>(READ_MARKS)).rows, opening);
  if (refusal !== null) throw new StoreDatabaseError(refusal.trouble, refusal.message);
}

/** Everything on it rejects at once. */
function breakOff(client: pg.PoolClient): void {
  (client as unknown as { connection: { stream: { destroy(error: Error): void } } }).connection.stream.destroy(
    Object.assign(new Error("the database did not answer in time"), { code: "57014" }),
  );
}

/** Gives the connection back when the server still answers on it. */
async function endFailed(client: pg.PoolClient): Promise<void> {
  try {
    await client.query("ROLLBACK");
    client.release();
  } catch {
    client.release(true);
  }
}

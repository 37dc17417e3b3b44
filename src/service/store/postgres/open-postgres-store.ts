import type pg from "pg";
import type { Clock } from "../../../runtime/clock.ts";
import { type Random, systemRandom } from "../../../runtime/random.ts";
import { POLL_SECONDS } from "../../domain/delivery/living.ts";
import type { ReadOptions, Store, StoreWatch, WriteOptions, Transaction } from "../../domain/ports.ts";
import { StepLoop } from "../../sql/long-changes.ts";
import { MIGRATIONS, newestVersion } from "../../sql/schema/migrations.ts";
import { READ_MARKS, refusalByMarks, type OpenMarks } from "../sql/store-marks.ts";
import type { WriteEnd } from "../sql/run-jobs.ts";
import { createStoreRows, type StoreRows } from "../sql/store-rows.ts";
import { StoreDatabaseError, type StoreEvent } from "../store-errors.ts";
import { askOutcome } from "./commit-outcome.ts";
import { type DatabaseTarget, openPool, readTarget, withConnection } from "./connections.ts";
import { DatabaseTime } from "./database-time.ts";
import { findMiscounted, readOldestTransaction, askTime, vacuum } from "./maintenance.ts";
import { migrateServer } from "./migrate.ts";
import { classifyError, unavailable } from "./postgres-errors.ts";
import { ProjectQueue } from "./project-queue.ts";
import { withRetries } from "./retries.ts";
import { createStatements } from "./statements.ts";
import { TransactionDatabase, type TransactionKind } from "./transaction-database.ts";
import { TroubleNotes } from "./trouble-notes.ts";
import { runWrite } from "./write-transaction.ts";

export interface PostgresStoreOptions extends StoreWatch, OpenMarks {
  readonly url: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly time?: "database" | "clock";
  readonly mayMigrate?: boolean;
  readonly mayCreate?: boolean;
  readonly onEvent?: (event: StoreEvent) => void;
  readonly appUrl?: () => string;
  readonly onWebhookEvent?: () => void;
}

/** Longer than the server's own timeouts, which don't help if it is unreachable. */
const WRITE_ANSWER_MS = 12_000;
const READ_ANSWER_MS = 6_000;
const READS_MAX = 3;
const RETRY_MAX_MS = 2_000;

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { url, clock, mayMigrate = true, mayCreate = true, filledBy, onEvent } = options;
  const target = readTarget(url);
  const pool = openPool(target);
  const time = new DatabaseTime(clock, options.time ?? "database");
  try {
    await withConnection(pool, async (client) => {
      const { from, to } = await migrateServer(client, { clock, mayMigrate, mayCreate, filledBy });
      if (from === 0) onEvent?.({ kind: "created" });
      else if (from < to) onEvent?.({ kind: "upgraded", from, to });
      await refuseMarked(client, options);
      time.set(await askTime(client));
    });
  } catch (error) {
    await pool.end();
    throw classifyError(error) === "fault" ? error : unavailable(error);
  }
  return createStore(createEngine(pool, options, { target, time }));
}

async function refuseMarked(client: pg.PoolClient, opening: OpenMarks): Promise<void> {
  const refusal = refusalByMarks((await client.query<Record<string, string>>(READ_MARKS)).rows, opening);
  if (refusal !== null) throw new StoreDatabaseError(refusal.trouble, refusal.message);
}

interface Engine {
  readonly pool: pg.Pool;
  readonly clock: Clock;
  readonly time: DatabaseTime;
  readonly trouble: TroubleNotes;
  readonly queue: ProjectQueue;
  /** Set to true after a write that stored a long change, which is then continued in steps. */
  readonly isNoted: { value: boolean };
  readonly transact: <Result>(
    kind: TransactionKind,
    work: (database: TransactionDatabase, rows: StoreRows) => Promise<Result>,
    isNoted?: { value: boolean },
  ) => Promise<Result>;
  readonly unprepare: () => void;
}

function createEngine(
  pool: pg.Pool,
  options: PostgresStoreOptions,
  { target, time }: { readonly target: DatabaseTarget; readonly time: DatabaseTime },
): Engine {
  const { clock, random = systemRandom, appUrl = () => "", onWebhookEvent = () => undefined } = options;
  const { onEvent = () => undefined } = options;
  const state = { isPrepared: target.isPrepared };
  const isNoted = { value: true };
  const statements = {
    statementOf: createStatements(),
    isPrepared: () => state.isPrepared,
    watch: {
      ...options,
      onSlow: (statement: string, seconds: number) => onEvent({ kind: "slow", statement, seconds }),
    },
  };
  const rowsOptions = { clock, random, appUrl, onWebhookEvent, isOneTransaction: true };
  const transact: Engine["transact"] = (kind, work, isNotedBy = { value: false }) =>
    withConnection(pool, async (client) => {
      const database = new TransactionDatabase(client, kind, statements);
      return work(database, createStoreRows(database, { ...rowsOptions, isNoted: isNotedBy }));
    });
  const unprepare = (): void => {
    state.isPrepared = false;
  };
  const trouble = new TroubleNotes(onEvent);
  const retries = {
    ...options,
    random,
    unprepare,
    askOutcome: (transaction: Parameters<typeof askOutcome>[1]) =>
      withConnection(pool, (client) => askOutcome(client, transaction)),
  };
  const queue = new ProjectQueue({
    ...options,
    onEnd: trouble.note,
    run: async (batch) => {
      const answerMs = batch.jobs.some(({ isLong }) => isLong) ? null : WRITE_ANSWER_MS;
      const kind = { writing: true, project: batch.project, answerMs };
      const isNotedBy = { value: false };
      const run = (): Promise<WriteEnd> =>
        transact(kind, (database, rows) => runWrite(database, rows, batch, { ...options, time }), isNotedBy);
      return withRetries(retries, run).finally(() => {
        isNoted.value ||= isNotedBy.value;
      });
    },
  });
  return { pool, clock, time, trouble, queue, isNoted, transact, unprepare };
}

function createStore(engine: Engine): Store {
  const { pool, queue, isNoted } = engine;
  const state = { isClosed: false };
  const refuseClosed = (): void => {
    if (state.isClosed) throw new Error("the store is closed");
  };
  const write = async <Result>(work: (tx: Transaction) => Promise<Result>, how: WriteOptions): Promise<Result> => {
    refuseClosed();
    return queue.write(work, how);
  };
  const loop = new StepLoop({
    isNoted,
    find: () => read(engine, (tx) => tx.changes.project()),
    proceed: (project) => write((tx) => tx.changes.proceed(project), { project }),
    isClosed: () => state.isClosed,
  });
  return {
    pollSeconds: POLL_SECONDS,
    about: { engine: "postgresql", schema: newestVersion(MIGRATIONS) },
    connections: () => {
      const { totalCount, idleCount, waitingCount } = pool;
      return { active: totalCount - idleCount, idle: idleCount, waiting: waitingCount };
    },
    oldestTransaction: () => withConnection(pool, readOldestTransaction),
    trouble: () => engine.trouble.current,
    lost: new Promise(() => undefined),
    read: async (work, how) => {
      refuseClosed();
      return read(engine, work, how);
    },
    write: (work, how) => write(work, how).finally(loop.start),
    settle: loop.settle,
    verify: () => Promise.resolve(),
    backup: () => Promise.reject(new StoreDatabaseError("unsupported", "use pg_dump to back up a database")),
    vacuum: () => withConnection(pool, vacuum),
    clean: () => Promise.resolve(null),
    check: () => withConnection(pool, findMiscounted),
    close: async () => {
      await queue.idle();
      state.isClosed = true;
      await loop.settle().catch(() => undefined);
      await pool.end();
    },
  };
}

const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/** A stalled read blocks no one, but keeps the server from removing deleted rows. */
const LIMITS = "SET LOCAL statement_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '60s'";
const NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

async function read<Result>(
  { clock, time, trouble, transact, unprepare }: Engine,
  work: (tx: Transaction) => Promise<Result>,
  { isLong = false }: ReadOptions = {},
): Promise<Result> {
  const kind = { writing: false, project: null, answerMs: isLong ? null : READ_ANSWER_MS };
  const beganMs = clock.monotonic();
  for (let tries = 1; ; tries += 1) {
    try {
      const result = await transact(kind, async (database, rows) => {
        database.sendControl(`${BEGIN}; ${isLong ? NO_LIMITS : LIMITS}`);
        const found = await work(rows.begin(time.ofRead()));
        await database.command("COMMIT");
        return found;
      });
      trouble.note(null);
      return result;
    } catch (error) {
      const errorKind = classifyError(error);
      if (errorKind === "fault") throw error;
      if (errorKind === "unprepared") unprepare();
      if (errorKind === "unavailable" || tries === READS_MAX || clock.monotonic() - beganMs > RETRY_MAX_MS) {
        trouble.note(unavailable(error));
        throw unavailable(error);
      }
    }
  }
}

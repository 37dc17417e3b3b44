import { existsSync, renameSync, rmSync } from "node:fs";
import path from "node:path";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { nextTurn } from "../../../runtime/clock.ts";
import { type Random, systemRandom } from "../../../runtime/random.ts";
import { resolveFile, TEMPORARY_SUFFIX } from "../../../runtime/files/file-replacement.ts";
import { makeFolder } from "../../../runtime/files/make-folder.ts";
import { POLL_SECONDS } from "../../domain/delivery/living.ts";
import type { Store, StoreWatch } from "../../domain/ports.ts";
import { type WriteTime, writeTime } from "../../domain/write-time.ts";
import { type StoreEvent, StoreFileError } from "../store-errors.ts";
import {
  checkPlace,
  closeFile,
  closeLogToOthers,
  hasLostLog,
  makeEmptyFile,
  markUsed,
  prepareFile,
  refuseLost,
  refuseOtherName,
  fileSize,
  emptyLog,
} from "./engine/data-file.ts";
import { createDatabase, type SqliteDatabase, toDatabase } from "./engine/database.ts";
import { IN_MEMORY, openEngine } from "./engine/engine.ts";
import { FileWatch, hasNoRoom } from "./engine/file-watch.ts";
import { isBusy, JobQueue, retryWhileBusy } from "./engine/job-queue.ts";
import { integrityFindings } from "./integrity.ts";
import { nameDataFile } from "./engine/sqlite-errors.ts";
import { lookBy, migrate } from "./engine/migrate.ts";
import { MIGRATIONS, newestVersion } from "../../sql/schema/migrations.ts";
import { refuseUnfit } from "./refuse-unfit.ts";
import { CountChanges } from "../../sql/lists/count-changes.ts";
import { StepLoop } from "../../sql/long-changes.ts";
import { NO_PROJECT, PROJECT_STATE, ProjectStates, projectToLock } from "../../sql/project-states.ts";
import { MARK_EMPTY, type OpenMarks } from "../sql/store-marks.ts";
import { createStoreRows, type StoreRows } from "../sql/store-rows.ts";
import { copySnapshot } from "./snapshot-copy.ts";
import { runWrite } from "./write-transaction.ts";

export interface SqliteStoreOptions extends OpenMarks, Pick<StoreWatch, "onCommit" | "onStatement"> {
  /** Created if missing; `:memory:` uses no file. */
  readonly file: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly onEvent?: (event: StoreEvent) => void;
  readonly appUrl?: () => string;
  readonly onWebhookEvent?: () => void;
}

const PROBE_MS = 2_000;

/** Opens a data file, which other processes may use too, and migrates it. Throws StoreFileError. */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  if (options.file === IN_MEMORY) return createStore(await openDatabase(options), options);
  const file = resolveFile(options.file);
  checkPlace(file, options.file);
  try {
    await makeFolder(path.dirname(file), 0o700);
    return await openFile({ ...options, file });
  } catch (caught) {
    const error = nameDataFile(nameFullDisk(file, caught), file, options.file);
    if (!(error instanceof StoreFileError)) throw error;
    throw new StoreFileError(error.trouble, `${options.file}: ${error.message}`, { cause: error });
  }
}

async function openFile(options: SqliteStoreOptions): Promise<Store> {
  const { file, clock, filledBy, onEvent = () => undefined } = options;
  if (filledBy !== undefined && !existsSync(file)) await makeMarked(options);
  const { isNew, isMade, isReadable } = prepareFile(file);
  if (isReadable) onEvent({ kind: "readable" });
  try {
    const database = await retryWhileBusy(clock, () => openDatabase(options));
    if (isNew) onEvent({ kind: "created" });
    return createStore(database, options);
  } catch (error) {
    if (isMade && !isBusy(error)) removeFile(file);
    throw error;
  }
}

/** Opens a copy that no other process uses, even if its data was moved. Throws StoreFileError. */
export async function openSqliteCopy(options: SqliteStoreOptions): Promise<Store> {
  makeEmptyFile(options.file);
  return createStore(await openDatabase(options, { isCopy: true }), options);
}

/**
 * Creates the file under a temporary name until it is marked, so that a killed process never leaves what looks like a
 * new service.
 */
async function makeMarked(options: SqliteStoreOptions): Promise<void> {
  const { file, random = systemRandom } = options;
  refuseLost(file);
  const temporary = `${file}.${random.token(9)}${TEMPORARY_SUFFIX}`;
  try {
    makeEmptyFile(temporary);
    closeFile(await openDatabase({ ...options, file: temporary }));
    renameSync(temporary, file);
  } finally {
    removeFile(temporary);
  }
}

function removeFile(file: string): void {
  for (const suffix of ["", "-wal", "-shm"]) rmSync(`${file}${suffix}`, { force: true });
}

async function openDatabase(options: SqliteStoreOptions, { isCopy } = { isCopy: false }): Promise<SqliteDatabase> {
  const { file, filledBy } = options;
  if (file !== IN_MEMORY && fileSize(file) > 0) await refuseUnfit(file, { ...options, isCopy });
  const database = await openOurs(options);
  try {
    database.exec("PRAGMA journal_mode = WAL");
    markUsed(database);
    if (file !== IN_MEMORY) closeLogToOthers(file);
    if (filledBy !== undefined) database.all(MARK_EMPTY, [filledBy]);
    return database;
  } catch (error) {
    const cause = nameFullDisk(file, error);
    closeFile(database);
    throw cause;
  }
}

async function openOurs(options: SqliteStoreOptions): Promise<SqliteDatabase> {
  const { file, clock, onEvent } = options;
  const onSlow = (statement: string, seconds: number): void => onEvent?.({ kind: "slow", statement, seconds });
  const isUnlogged = file !== IN_MEMORY && hasLostLog(file);
  const database = createDatabase(await openEngine(file), { ...options, onSlow });
  try {
    configure(database);
    const { from, to } = await migrate(database, unixSeconds(clock));
    if (from > 0 && from < to) onEvent?.({ kind: "upgraded", from, to });
    if (isUnlogged) refuseOtherName(database);
    return database;
  } catch (error) {
    const cause = nameFullDisk(file, error);
    database.close();
    throw cause;
  }
}

/** SQLite may report a full disk as an I/O error. */
function nameFullDisk(file: string, error: unknown): unknown {
  const mayBeFull = error instanceof StoreFileError && error.trouble === "unreadable" && file !== IN_MEMORY;
  return mayBeFull && hasNoRoom(file) ? new StoreFileError("full", "the disk is full", { cause: error }) : error;
}

function configure(database: SqliteDatabase): void {
  // Milliseconds. Short, because SQLite blocks the event loop while it waits.
  database.exec("PRAGMA busy_timeout = 5");
  // Commits are on disk before their results are returned.
  database.exec("PRAGMA synchronous = FULL");
  database.exec("PRAGMA foreign_keys = ON");
  database.exec("PRAGMA cache_size = -32768");
  // Overwrites deleted rows in the file.
  database.exec("PRAGMA secure_delete = ON");
  // Checkpoints also sync the data file, so they run after 16 MB of log instead of 4.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
}

interface Work {
  readonly states: ProjectStates;
  readonly rows: StoreRows;
  readonly watch: FileWatch;
  readonly queue: JobQueue;
  readonly isNoted: { value: boolean };
}

function createWork(database: SqliteDatabase, options: SqliteStoreOptions, onEvent: (event: StoreEvent) => void): Work {
  const { file, clock, random = systemRandom, appUrl = () => "", onWebhookEvent = () => undefined } = options;
  const isNoted = { value: true };
  const states = new ProjectStates(async (project) =>
    database.first(`${PROJECT_STATE} WHERE project_id = ?`, [project]),
  );
  const counts = new CountChanges();
  const rows = createStoreRows(toDatabase(database, states, counts), {
    clock,
    isNoted,
    random,
    appUrl,
    onWebhookEvent,
  });
  const watch = new FileWatch(file === IN_MEMORY ? null : file, onEvent);
  const state = { version: dataVersion(database) };
  const queue = new JobQueue({
    ...options,
    database,
    watch,
    run: async (jobs) => {
      const version = dataVersion(database);
      // Another process wrote to the file, so there may be a long change to continue.
      isNoted.value ||= version !== state.version;
      state.version = version;
      return runWrite({ database, clock, states, counts, rows, watch }, jobs);
    },
  });
  return { states, rows, watch, queue, isNoted };
}

/** A number that changes when another connection writes. */
function dataVersion(database: SqliteDatabase): unknown {
  return database.first("PRAGMA data_version")?.["data_version"];
}

function createStore(database: SqliteDatabase, options: SqliteStoreOptions): Store {
  const { clock, onEvent = () => undefined } = options;
  const closing = new AbortController();
  const work = createWork(database, options, (event) => {
    onEvent(event);
    if (event.kind === "trouble")
      void nextTurn()
        .then(() => probeRoom(work, clock, closing.signal))
        .catch(() => undefined);
  });
  const { states, rows, watch, queue, isNoted } = work;
  const now = (): WriteTime => writeTime(clock.now(), 0);
  const loop = new StepLoop({
    isNoted,
    find: () => queue.read(() => rows.begin(now()).changes.project()),
    proceed: (project) =>
      queue.write(async (tx) => {
        await states.of(NO_PROJECT);
        await tx.changes.proceed(project);
      }),
    isClosed: () => closing.signal.aborted,
  });
  loop.start();
  const read: Store["read"] = (job) => queue.read(() => job(rows.begin(now())));
  return {
    pollSeconds: POLL_SECONDS,
    about: { engine: "sqlite", schema: newestVersion(MIGRATIONS) },
    connections: () => null,
    oldestTransaction: () => Promise.resolve(null),
    trouble: () => watch.trouble(),
    lost: watch.lost,
    read,
    write: (job, { project, mayWaitMs }) =>
      queue
        .write(async (tx) => {
          await states.lock(projectToLock(project) ?? NO_PROJECT);
          return job(tx);
        }, mayWaitMs)
        .finally(loop.start),
    settle: loop.settle,
    verify: () => queue.alone(async () => watch.look()),
    ...createWholeFile(database, options, work),
    check: () => queue.read(async () => integrityFindings(lookBy(database))),
    close: async () => {
      closing.abort();
      await queue.close();
      closeFile(database);
    },
  };
}

/**
 * Retries a write while the disk is in trouble: clients get a 503, so no other write would notice that there is space
 * again.
 */
async function probeRoom({ watch, queue, states }: Work, clock: Clock, signal: AbortSignal): Promise<void> {
  while (watch.trouble() !== null && watch.refusal() === null && !signal.aborted) {
    await clock.sleep(PROBE_MS, signal);
    await queue.write(() => states.of(NO_PROJECT)).catch(() => undefined);
  }
}

function createWholeFile(
  database: SqliteDatabase,
  { file, clock, random = systemRandom }: SqliteStoreOptions,
  { queue, watch }: Work,
): Pick<Store, "backup" | "vacuum" | "clean"> {
  const exclusively = <Result>(change: () => Result): Promise<Result> =>
    queue.alone(async () => {
      watch.look();
      return retryWhileBusy(clock, async () => change());
    });
  return {
    backup: (target) => copySnapshot({ file, target, random, clock }),
    vacuum: async () => {
      const bytesBefore = bytesIn(database);
      await exclusively(() => database.exec("VACUUM"));
      // The log can't be emptied while another connection reads old pages; a later write does it.
      await exclusively(() => emptyLog(database)).catch((error: unknown) => {
        if (!isBusy(error)) throw error;
      });
      return { bytesBefore, bytesAfter: bytesIn(database) };
    },
    clean: async () => {
      await exclusively(() => emptyLog(database));
      return true;
    },
  };
}

function bytesIn(database: SqliteDatabase): number {
  const row = { ...database.first("PRAGMA page_count"), ...database.first("PRAGMA page_size") };
  return Number(row["page_count"]) * Number(row["page_size"]);
}

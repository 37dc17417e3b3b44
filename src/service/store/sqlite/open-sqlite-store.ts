import { existsSync, renameSync, rmSync } from "node:fs";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { nextTurn } from "../../../runtime/clock.ts";
import { type Random, systemRandom } from "../../../runtime/random.ts";
import { resolveFile, TEMPORARY_SUFFIX } from "../../../runtime/files/file-replacement.ts";
import { countContents } from "../../domain/moving.ts";
import type { Store, StoreCommit, StoreContents, Vacuumed } from "../../domain/ports.ts";
import { type StoreEvent, StoreFileError } from "../store-errors.ts";
import {
  checkContent,
  closeFile,
  checkPlace,
  copyTo,
  makeEmptyFile,
  markRun,
  prepareFile,
  refuseLost,
} from "./engine/data-file.ts";
import { compact, createFileCleaner } from "./engine/clean-file.ts";
import { createDatabase, type SqliteDatabase, toDatabase } from "./engine/database.ts";
import { IN_MEMORY, openEngine } from "./engine/engine.ts";
import { createFileCopier } from "./engine/file-copier.ts";
import { createFileGuard, type FileGuard } from "./engine/file-guard.ts";
import { type Ownership, ownFile } from "./engine/file-owner.ts";
import { findForeign, findMissing } from "./foreign-parts.ts";
import { createFileWatch, hasNoRoom } from "./engine/file-watch.ts";
import { createJobQueue } from "./engine/job-queue.ts";
import { integrityFindings } from "./integrity.ts";
import { nameDataFile } from "./engine/sqlite-errors.ts";
import { createStoredTime } from "./engine/stored-time.ts";
import { migrate } from "./engine/migrate.ts";
import { MIGRATIONS, newestOf } from "../sql/schema/migrations.ts";
import { NEW_FILE } from "./new-file.ts";
import { createStepLoop } from "../sql/rows/long-changes.ts";
import { createProjectStates, NO_PROJECT, PROJECT_STATE, stateOf } from "../sql/project-states.ts";
import { MARK_EMPTY, READ_MARKS, refusalByMarks, type StoreOpening } from "../sql/store-marks.ts";
import { createStoreRows } from "../sql/store-rows.ts";

export interface SqliteStoreOptions extends StoreOpening {
  /** Created when it does not exist; `:memory:` for a store that nothing outlives. */
  readonly file: string;
  readonly clock: Clock;
  readonly random?: Random;
  readonly onEvent?: (event: StoreEvent) => void;
  /** Called when no other process can own the file any more, before it is opened. */
  readonly onOwned?: () => Promise<void>;
  /** Where the service is seen from outside, without a slash at the end; absent: nowhere. */
  readonly appUrl?: () => string;
  /** Called within each transaction that writes an event for webhooks. */
  readonly onWebhookEvent?: () => void;
  /** Called after each write transaction. */
  readonly onCommit?: (commit: StoreCommit) => void;
}

/** A full disk is looked at this often. */
const PROBE_MS = 2_000;
/** A clock that is corrected goes back by less. */
const CLOCK_TOLERANCE_SECONDS = 60;

/**
 * Opens a data file for this process alone and brings its schema up to date. Throws StoreBusyError while another
 * process owns it, StoreFileError when it is no data file of ours, damaged, or cannot be used.
 */
export async function openSqliteStore(options: SqliteStoreOptions): Promise<Store> {
  if (options.file === IN_MEMORY) {
    return createStore(await openDatabase(options), options, { guard: null, release: () => Promise.resolve() });
  }
  const file = resolveFile(options.file);
  checkPlace(file, options.file);
  try {
    return await openOwned({ ...options, file });
  } catch (caught) {
    const error = nameDataFile(nameFullDisk(file, caught), file, options.file);
    if (!(error instanceof StoreFileError)) throw error;
    throw new StoreFileError(error.trouble, `${options.file}: ${error.message}`, { cause: error });
  }
}

/** `file` is no link. */
async function openOwned(options: SqliteStoreOptions): Promise<Store> {
  const { file, filledBy } = options;
  const ownership = await ownFile(file, options.clock);
  try {
    await options.onOwned?.();
    if (filledBy !== undefined && !existsSync(file)) await makeMarked(options);
    const { database, guard } = await openFile(options, ownership);
    return await createStore(database, options, { guard, release: () => ownership.release() });
  } catch (error) {
    await ownership.release();
    throw error;
  }
}

/**
 * Opens a copy of a data file that this process alone knows of, as a store: makes it where it is not there, brings its
 * schema up to date, and opens also what was moved elsewhere. Throws StoreFileError.
 */
export async function openSqliteCopy(options: SqliteStoreOptions): Promise<Store> {
  makeEmptyFile(options.file);
  const database = await openDatabase(options, { isCopy: true });
  return createStore(database, options, { guard: null, release: () => Promise.resolve() });
}

/** The file has its name only once it is marked: whatever ends this process, nobody takes it for a new service. */
async function makeMarked(options: SqliteStoreOptions): Promise<void> {
  const { file, random = systemRandom } = options;
  refuseLost(file);
  const temporary = `${file}.${random.token(9)}${TEMPORARY_SUFFIX}`;
  try {
    makeEmptyFile(temporary);
    closeFile(await openDatabase({ ...options, file: temporary }));
    renameSync(temporary, file);
  } finally {
    for (const suffix of ["", "-wal", ".lock"]) rmSync(`${temporary}${suffix}`, { recursive: true, force: true });
  }
}

async function openFile(
  options: SqliteStoreOptions,
  ownership: Ownership,
): Promise<{ readonly database: SqliteDatabase; readonly guard: FileGuard }> {
  const { file, random = systemRandom, onEvent = () => undefined } = options;
  const { isNew, isMade, isReadable } = prepareFile(file, ownership.left);
  if (isReadable) onEvent({ kind: "readable" });
  const database = await openDatabase(options).catch((error: unknown) => {
    if (isMade) for (const name of [file, `${file}-wal`]) rmSync(name, { force: true });
    throw error;
  });
  if (isNew) onEvent({ kind: "created" });
  await ownership.note({ run: markRun(database, random) });
  return { database, guard: createFileGuard(file) };
}

async function openDatabase(options: SqliteStoreOptions, { isCopy } = { isCopy: false }): Promise<SqliteDatabase> {
  const { file, clock, onEvent, filledBy } = options;
  const onSlow = (statement: string, seconds: number): void => onEvent?.({ kind: "slow", statement, seconds });
  const database = createDatabase(await openEngine(file), { clock, onSlow });
  try {
    configure(database);
    if (file !== IN_MEMORY) checkContent(file, database);
    await migrate(database, unixSeconds(clock));
    const [missing] = findMissing(database, SCHEMA);
    if (missing !== undefined) throw new StoreFileError("damaged", `the file is damaged: ${missing} is missing`);
    const foreign = findForeign(database, SCHEMA);
    if (foreign !== null) throw new StoreFileError("foreign", `the file has ${foreign}; drop it to use the file`);
    if (filledBy !== undefined) database.all(MARK_EMPTY, [filledBy]);
    const refusal = refusalByMarks(database.all(READ_MARKS), options);
    if (refusal !== null && !(isCopy && refusal.trouble === "moved"))
      throw new StoreFileError(refusal.trouble, refusal.message);
    return database;
  } catch (error) {
    // Closing gives space back.
    const cause = nameFullDisk(file, error);
    closeFile(database);
    throw cause;
  }
}

/** All statements that have made an up-to-date file. */
const SCHEMA = [NEW_FILE, ...MIGRATIONS].flatMap(({ statements }) => statements);

/** One engine tells a full disk as an error of the disk. */
function nameFullDisk(file: string, error: unknown): unknown {
  const mayBeFull = error instanceof StoreFileError && error.trouble === "unreadable" && file !== IN_MEMORY;
  return mayBeFull && hasNoRoom(file) ? new StoreFileError("full", "the disk is full", { cause: error }) : error;
}

function configure(database: SqliteDatabase): void {
  database.exec("PRAGMA journal_mode = WAL");
  // The queue syncs the log after each commit, beside the event loop.
  database.exec("PRAGMA synchronous = NORMAL");
  database.exec("PRAGMA foreign_keys = ON");
  database.exec("PRAGMA cache_size = -32768");
  // What is deleted is overwritten, so that nobody can read it in the file.
  database.exec("PRAGMA secure_delete = ON");
  // A checkpoint syncs the data file as well: rather at 16 MB of log than at 4.
  database.exec("PRAGMA wal_autocheckpoint = 4000");
}

interface Held {
  readonly guard: FileGuard | null;
  readonly release: () => Promise<void>;
}

async function createStore(
  database: SqliteDatabase,
  options: SqliteStoreOptions,
  { guard, release }: Held,
): Promise<Store> {
  const { file, clock, random = systemRandom, onEvent = () => undefined } = options;
  const { appUrl = () => "", onWebhookEvent = () => undefined } = options;
  const time = createStoredTime(database, clock);
  const behind = time.newest() - unixSeconds(clock);
  if (behind > CLOCK_TOLERANCE_SECONDS) onEvent({ kind: "clock_behind", seconds: behind });
  const closing = new AbortController();
  const isNoted = { value: database.first("SELECT 1 FROM long_changes LIMIT 1") !== null };
  const states = createProjectStates(async (project) =>
    database.first(`${PROJECT_STATE} WHERE project_id = ?`, [project]),
  );
  const since = { changes: 0 };
  const watch = createFileWatch({ file, database, guard, clock, onEvent: tellAndProbe });
  const queue = createJobQueue(database, clock, {
    ...watch,
    begin: () => {
      time.begin();
      since.changes = database.changes;
    },
    mark: () => {
      const mark = states.mark();
      return () => states.restore(mark);
    },
    end: () => {
      // What changes nothing writes nothing, but for the look whether there is room again.
      const isChanged = database.changes !== since.changes || states.isChanged() || time.isNew();
      if (!isChanged && watch.trouble() === null) return;
      for (const { sql, values } of states.end(time.newest())) database.run(sql, values);
    },
    afterCommit: () => {
      time.commit();
      watch.afterCommit();
    },
    over: states.forget,
    ...(options.onCommit === undefined ? {} : { ended: options.onCommit }),
  });
  const rows = createStoreRows(toDatabase(database, states), {
    isShared: false,
    isNoted,
    random,
    appUrl,
    onWebhookEvent,
  });
  const copier = file === IN_MEMORY ? null : createFileCopier({ file, database, queue, watch });

  /** Tries to write: while clients see 503, no other write would notice that there is room again. */
  async function probe(): Promise<void> {
    while (watch.trouble() !== null && watch.refusal() === null && !closing.signal.aborted) {
      await clock.sleep(PROBE_MS, closing.signal);
      await queue.write(() => states.of(NO_PROJECT)).catch(() => undefined);
    }
  }
  function tellAndProbe(event: StoreEvent): void {
    onEvent(event);
    // Rejects when the store is closed meanwhile.
    if (event.kind === "trouble")
      void nextTurn()
        .then(probe)
        .catch(() => undefined);
  }

  const loop = createStepLoop(
    () => isNoted.value,
    () =>
      queue.write(async () => {
        await states.of(NO_PROJECT);
        await rows.begin(time.newest()).step();
      }),
  );
  loop.start();
  const contents = (): Promise<StoreContents> => countContents(rows.begin(time.now()));
  const cleaner = createFileCleaner(database, file);
  const exclusively = <Result>(work: () => Result): Promise<Result> =>
    queue.read(async () => {
      watch.beforeCommit();
      const result = work();
      watch.afterCommit();
      return result;
    });
  const vacuum = (): Promise<Vacuumed> => exclusively(() => measureCompacting(database));
  return {
    isShared: false,
    about: { engine: "sqlite", schema: newestOf(MIGRATIONS) },
    connections: () => null,
    oldestTransaction: () => Promise.resolve(null),
    trouble: () => watch.trouble(),
    lost: watch.lost,
    read: (work) => queue.read(() => work(rows.begin(time.now()))),
    write: (work, how) =>
      queue
        .write(async () => {
          await states.of(stateOf(how?.project) ?? NO_PROJECT);
          return work(rows.begin(time.newest(), time.newestMs()));
        }, how)
        .finally(loop.start),
    settle: loop.settle,
    verify: () => queue.read(async () => watch.beforeCommit()),
    backup: async (copy) => {
      if (copier !== null) return copier.copy(copy, contents);
      return queue.read(async () => {
        copyTo(database, copy);
        return contents();
      });
    },
    vacuum: async () => (copier === null ? vacuum() : copier.alone(vacuum)),
    clean: async (texts) => copier?.alone(() => cleaner.clean(texts, exclusively)) ?? true,
    check: () => queue.read(async () => integrityFindings(database)),
    close: async () => {
      closing.abort();
      await copier?.stop();
      // The file may have gone since the last write.
      await queue.read(async () => watch.beforeCommit()).catch(() => undefined);
      await queue.close();
      await watch.close();
      closeFile(database);
      cleaner.close();
      await copier?.close();
      await release();
    },
  };
}

function measureCompacting(database: SqliteDatabase): Vacuumed {
  const size = (): number => {
    const row = { ...database.first("PRAGMA page_count"), ...database.first("PRAGMA page_size") };
    return Number(row["page_count"]) * Number(row["page_size"]);
  };
  const bytesBefore = size();
  compact(database);
  return { bytesBefore, bytesAfter: size() };
}

import { copyFile, rm, stat } from "node:fs/promises";
import { existsSync } from "node:fs";
import path from "node:path";
import { systemUser } from "../../runtime/files/processes.ts";
import { nextTurn } from "../../runtime/clock.ts";
import { isSameFile, TEMPORARY_SUFFIX } from "../../runtime/files/file-replacement.ts";
import type { LockWatch } from "../../runtime/files/lock-file.ts";
import { systemErrorText } from "../../runtime/files/system-words.ts";
import { CopyFailedError, FileChoiceError, lockCopies, removeCopy, removeLeftCopies } from "./backup.ts";
import { releaseDeadClaims } from "../domain/delivery/deliveries.ts";
import { noteWhole } from "../domain/operation-log/operation-log.ts";
import { copyRows, countContents, type TableSum } from "../domain/moving/moving.ts";
import type { Store, StoreContents, Transaction } from "../domain/ports.ts";
import { syncErasures } from "./erasure-file.ts";
import { applyLaterErasures, readLaterErasures } from "./later-erasures.ts";
import { type DatabaseChoice, type DataFileOptions, openData } from "./open-data-file.ts";
import { livingProcesses } from "../sending/heartbeat.ts";
import type { Distribution } from "../store/postgres/distribute.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { markAsCopy } from "../store/sqlite/engine/data-file.ts";
import { inspectCopy } from "../store/sqlite/inspect-copy.ts";
import { openSqliteCopy } from "../store/sqlite/open-sqlite-store.ts";

export interface CopyStoreOptions extends Omit<DataFileOptions, "dataFile" | "onEvent"> {
  readonly from: string;
  /** Created if missing. A database is named by its URL without the password. */
  readonly to: string;
  readonly fromDatabase?: DatabaseChoice | null;
  readonly toDatabase?: DatabaseChoice | null;
  readonly signal: AbortSignal;
  readonly onRows: (rows: number) => Promise<void>;
  readonly watch?: LockWatch;
}

export interface CopiedStore extends StoreContents {
  readonly tables: readonly TableSum[];
  readonly paused_at: number;
}

/** Afterwards the old file refuses to open. Throws FileChoiceError, CopyFailedError or StoreFileError. */
export async function moveStore(options: CopyStoreOptions): Promise<CopiedStore> {
  const { from, to, fromDatabase = null, toDatabase = null, random } = options;
  await checkPlaces(options);
  const place = toDatabase === null ? path.resolve(to) : to;
  const filledBy = `move from ${fromDatabase === null ? path.resolve(from) : from}`;
  const source = await openData({ ...options, dataFile: from, database: fromDatabase, movedTo: place });
  try {
    await refuseServed(source, from);
    if (fromDatabase === null) await syncErasures(source, from, random);
    await source.settle();
    // No server uses the source now, so any claims in it were left by a killed one.
    await source.write((tx) => releaseDeadClaims(tx), { project: "all" });
    await refuseDamaged(source, from);
    const moved = await source.read((tx) => tx.tables.mark("moved"));
    const state = { before: "" };
    return await intoEmpty(
      options,
      { filledBy, moved },
      async (target) => {
        state.before = await source.read(readStates);
        const copied = await copyStore(source, target, options, "the data was moved here", "move");
        if (toDatabase === null) await syncErasures(target, to, random);
        return copied;
      },
      () =>
        source.write(
          async (tx) => {
            if ((await readStates(tx)) !== state.before)
              throw new CopyFailedError(`${from} changed while it was moved`);
            await tx.tables.setMark("moved", place);
          },
          { project: "all" },
        ),
    );
  } finally {
    await source.close();
  }
}

/** Writes a consistent snapshot of a database to a new data file, which counts as a backup. */
export async function copyDatabase(options: CopyStoreOptions): Promise<StoreContents> {
  const { from, to, fromDatabase = null, clock, random } = options;
  const source = await openData({ ...options, dataFile: from, database: fromDatabase });
  try {
    const target = await openSqliteCopy({ file: to, clock, random });
    try {
      const { projects, people, responses, surveys } = await copyStore(source, target, options, RESTORED_REASON);
      return { projects, people, responses, surveys };
    } finally {
      await target.close();
      markAsCopy(to);
    }
  } finally {
    await source.close();
  }
}

export interface RestoredStore extends CopiedStore {
  /** People erased after the backup was made; not counted in `people`. */
  readonly later: { readonly erased: number; readonly unread: string | null };
}

/** Fills an empty store from a backup of any version, without the people named in later erasure logs. */
export async function restoreStore(options: CopyStoreOptions): Promise<RestoredStore> {
  const { from, to, toDatabase = null } = options;
  await checkPlaces(options);
  await refuseUnfit(from);
  const neighbour = toDatabase === null ? path.resolve(to) : path.resolve(from);
  const lock = await lockCopies(neighbour, toDatabase === null ? to : from, options);
  try {
    return await restoreNextTo(options, neighbour);
  } finally {
    await lock.release();
  }
}

async function restoreNextTo(options: CopyStoreOptions, neighbour: string): Promise<RestoredStore> {
  const { from, to, toDatabase = null, random } = options;
  const staged = `${neighbour}.${random.token(9)}${TEMPORARY_SUFFIX}`;
  return intoEmpty(options, { filledBy: `restore from ${path.resolve(from)}`, moved: null }, async (target) => {
    await removeLeftCopies(neighbour);
    try {
      const source = await openStaged(options, staged);
      try {
        const places = { backup: from, dataFile: toDatabase === null ? to : null };
        const later = await readLaterErasures(source, places);
        const copied = await copyStore(source, target, options, RESTORED_REASON, "restore");
        const known = await applyLaterErasures(target, later);
        const erased = known + (toDatabase === null ? await syncErasures(target, to, random) : 0);
        return { ...copied, ...(await target.read(countContents)), later: { erased, unread: later.unread } };
      } finally {
        await source.close();
      }
    } finally {
      await removeCopy(staged);
    }
  });
}

async function openStaged({ from, to, clock, random }: CopyStoreOptions, staged: string): Promise<Store> {
  try {
    await copyFile(from, staged);
    markAsCopy(staged);
  } catch (error) {
    throw new CopyFailedError(`${from} cannot be copied next to ${to}: ${systemErrorText(error)}`, { cause: error });
  }
  try {
    return await openSqliteCopy({ file: staged, clock, random });
  } catch (error) {
    throw error instanceof StoreFileError ? named(from, error) : error;
  }
}

async function refuseUnfit(from: string): Promise<void> {
  const log = await stat(`${from}-wal`).catch(() => null);
  if (log !== null && log.size > 0)
    throw new FileChoiceError(
      `${from} is in use, or was when its service was killed: the log ${from}-wal is next to it`,
    );
  try {
    const [finding] = (await inspectCopy(from)).findings;
    if (finding !== undefined) throw new StoreFileError("damaged", `the file is damaged: ${finding}`);
  } catch (error) {
    throw error instanceof StoreFileError ? named(from, error) : error;
  }
}

function named(file: string, error: StoreFileError): StoreFileError {
  return new StoreFileError(error.trouble, `${file}: ${error.message}`, { cause: error });
}

async function checkPlaces({ from, to, fromDatabase = null, toDatabase = null }: CopyStoreOptions): Promise<void> {
  if (fromDatabase === null && !existsSync(from)) throw new FileChoiceError(`there is no file ${from}`);
  if (toDatabase !== null) return;
  if (!existsSync(path.dirname(to)))
    throw new FileChoiceError(`cannot write ${to}: the folder ${path.dirname(to)} does not exist`);
  if (fromDatabase === null && (await isSameFile(from, to)))
    throw new FileChoiceError(to === from ? `${to} is the data file itself` : `${to} is the same file as ${from}`);
}

async function refuseDamaged(store: Store, file: string): Promise<void> {
  const [finding] = await store.check();
  if (finding !== undefined) throw new StoreFileError("damaged", `${file}: the file is damaged: ${finding}`);
}

interface FillOptions {
  readonly filledBy: string;
  /** Where an earlier run moved the data, if it was killed before it finished. */
  readonly moved: string | null;
}

/** No one else can open the store until `finish` is done. Running a killed command again completes the work. */
async function intoEmpty<Result>(
  options: CopyStoreOptions,
  { filledBy, moved }: FillOptions,
  fill: (target: Store) => Promise<Result>,
  finish: () => Promise<void> = async () => undefined,
): Promise<Result> {
  const { to, toDatabase = null, clock, random } = options;
  const wasThere = toDatabase !== null || existsSync(to);
  const target = await openData({ dataFile: to, database: toDatabase, clock, random, filledBy });
  const setFull = (): Promise<void> => target.write((tx) => tx.tables.setMark("filling", null), { project: "none" });
  const state = { isOurs: false, isFull: false };
  try {
    const { projects, mark } = await target.read(async (tx) => ({
      ...(await countContents(tx)),
      mark: await tx.tables.mark("filling"),
    }));
    state.isFull = projects > 0 && mark === filledBy;
    state.isOurs = projects === 0;
    if (!state.isFull) refuseToFill(options, { projects, moved });
    if (toDatabase === null) await removeLeftCopies(path.resolve(to));
    const result = await fill(target);
    state.isFull = true;
    await finish();
    await setFull();
    return result;
  } catch (error) {
    if (wasThere && state.isOurs && !state.isFull) await setFull().catch(() => undefined);
    throw error;
  } finally {
    await target.close();
    if (!wasThere && state.isOurs && !state.isFull)
      for (const name of [to, `${to}-wal`, `${to}-shm`]) await rm(name, { force: true });
  }
}

function refuseToFill(
  { from, to }: CopyStoreOptions,
  { projects, moved }: { readonly projects: number; readonly moved: string | null },
): void {
  if (moved !== null) throw new CopyFailedError(`${from}: the data was moved to ${moved}; use that`);
  if (projects > 0)
    throw new FileChoiceError(`${to} is not empty: it has ${projects} ${projects === 1 ? "project" : "projects"}`);
}

const LONG = { isLong: true } as const;
const RESTORED_REASON = "the data was restored from a backup";

async function refuseServed(store: Store, name: string): Promise<void> {
  const living = await livingProcesses(store);
  if (living.length === 0) return;
  const processes = living.length === 1 ? "process" : `${living.length} processes`;
  throw new FileChoiceError(`${name} is served, or was within the last 30 seconds; stop its ${processes} first`);
}

/** Spreads a database over a Citus cluster. Throws StoreDatabaseError, or FileChoiceError if a server is using it. */
export async function distributeData(
  options: DataFileOptions & { readonly database: DatabaseChoice },
): Promise<Distribution> {
  const { distributeDatabase } = await import("../store/postgres/distribute.ts");
  return distributeDatabase(options.database.url, async () => {
    const store = await openData(options);
    try {
      await refuseServed(store, options.dataFile);
    } finally {
      await store.close();
    }
  });
}

async function readStates(tx: Transaction): Promise<string> {
  const states = [];
  for (const { id } of [{ id: 0 }, ...(await tx.projects.list())]) states.push(await tx.tables.version(id));
  return JSON.stringify(states);
}

/** Uses one transaction, so that a store is never half full. */
async function copyStore(
  source: Store,
  target: Store,
  { onRows, signal }: CopyStoreOptions,
  reason: string,
  operation: "move" | "restore" | null = null,
): Promise<CopiedStore> {
  const onPage = async (rows: number): Promise<void> => {
    await nextTurn();
    signal.throwIfAborted();
    await onRows(rows);
  };
  const copied = await source.read(
    (from) =>
      target
        .write(
          async (to) => {
            const tables = await copyRows(from, to, onPage);
            await to.senders.setPaused(to.now, reason);
            if (operation !== null) await noteWhole(to, operation, systemUser());
            return { tables, ...(await countContents(to)), paused_at: to.now };
          },
          { project: "all", ...LONG },
        )
        // Caught here; otherwise the source would report the target's error as one of its own.
        .catch((error: unknown) => ({ error })),
    LONG,
  );
  if ("error" in copied) throw copied.error;
  return copied;
}

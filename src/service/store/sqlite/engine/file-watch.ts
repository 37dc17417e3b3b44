/**
 * What happens around each batch of writes: the file is looked at, troubles are told once, a file that others changed
 * is given up.
 */
import { rmSync, statfsSync } from "node:fs";
import path from "node:path";
import type { Clock } from "../../../../runtime/clock.ts";
import type { StoreEvent } from "../../store-errors.ts";
import { StoreFileError } from "../../store-errors.ts";
import { copyTo, RESCUED } from "./data-file.ts";
import type { SqliteDatabase } from "./database.ts";
import type { Change, FileGuard } from "./file-guard.ts";
import { createLogSync } from "./log-sync.ts";

export interface FileWatch {
  readonly beforeCommit: () => void;
  readonly afterCommit: () => void;
  /** All that is committed is then on the disk, in the file that was opened. */
  readonly sync: () => Promise<void>;
  readonly close: () => Promise<void>;
  readonly failed: (error: unknown) => unknown;
  readonly refusal: () => StoreFileError | null;
  readonly trouble: () => StoreFileError | null;
  readonly lost: Promise<StoreFileError>;
}

export interface FileWatchOptions {
  readonly file: string;
  readonly database: SqliteDatabase;
  /** Null for a database in memory. */
  readonly guard: FileGuard | null;
  readonly clock: Clock;
  readonly onEvent: (event: StoreEvent) => void;
}

/** A disk with less room than this is full: one engine tells it as an error of the disk. */
const ROOM_BYTES_MIN = 128 * 1024;

export function createFileWatch(options: FileWatchOptions): FileWatch {
  const { file, guard, onEvent } = options;
  const state: { trouble: StoreFileError | null; refusal: StoreFileError | null } = { trouble: null, refusal: null };
  const loss = createLoss();
  const log = guard === null ? null : createLogSync(file);

  const abandon = (error: StoreFileError): StoreFileError => {
    state.refusal = error;
    loss.resolve(error);
    return error;
  };
  const look = (when: "before commit" | "after commit"): void => {
    const change = guard?.check(when) ?? null;
    if (change === null) return;
    throw abandon(new StoreFileError("changed", `${file}: ${giveUp(options, change)}`));
  };
  return {
    beforeCommit: () => look("before commit"),
    afterCommit: () => {
      look("after commit");
      if (state.trouble !== null) onEvent({ kind: "recovered" });
      state.trouble = null;
    },
    sync: async () => {
      try {
        await log?.sync();
      } catch (error) {
        // The system may have dropped what it could not write, so a second try would prove nothing.
        throw abandon(new StoreFileError("changed", `${file}: ${NOT_SAVED}`, { cause: error }));
      }
      look("before commit");
    },
    close: async () => log?.close(),
    failed: (error) => {
      if (!(error instanceof StoreFileError)) return error;
      const trouble = nameTrouble(file, error);
      if (state.trouble?.trouble !== trouble.trouble) onEvent({ kind: "trouble", error: trouble });
      state.trouble = trouble;
      return trouble;
    },
    refusal: () => state.refusal,
    trouble: () => state.trouble,
    lost: loss.promise,
  };
}

const NOT_SAVED = "the disk reports an error; the service has stopped, as it cannot tell what is saved";

function createLoss(): {
  readonly promise: Promise<StoreFileError>;
  readonly resolve: (error: StoreFileError) => void;
} {
  const resolvers: ((error: StoreFileError) => void)[] = [];
  const promise = new Promise<StoreFileError>((resolve) => resolvers.push(resolve));
  return { promise, resolve: (error) => resolvers[0]?.(error) };
}

function nameTrouble(file: string, error: StoreFileError): StoreFileError {
  if (error.trouble === "changed") return error;
  if (error.trouble === "unreadable" && hasNoRoom(file))
    return new StoreFileError("full", `${file}: the disk is full`, { cause: error });
  return new StoreFileError(error.trouble, `${file}: ${error.message}`, { cause: error });
}

/** Whether the disk that a file is on is full. */
export function hasNoRoom(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file));
    return bavail * bsize < ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}

/**
 * Saves what we hold where that does no harm, and says what has happened. All that was acknowledged was in the log that
 * others saw, so a file that another program has opened or written to is left exactly as it is.
 */
function giveUp(options: FileWatchOptions, change: Change): string {
  if (change.kind === "file") return saveBeside(options, change);
  if (change.isFileUntouched) saveIntoFile(options.database);
  return "another program opened the file and removed its log; the service has stopped to keep what is saved";
}

/** The log that is gone was ours alone, and we still have it open. */
function saveIntoFile(database: SqliteDatabase): void {
  try {
    endTransaction(database);
    database.all("PRAGMA wal_checkpoint(PASSIVE)");
  } catch {
    // The next start reads what the file has.
  }
}

function saveBeside(
  { file, database, clock }: FileWatchOptions,
  { isMissing, isLogOurs }: Extract<Change, { readonly kind: "file" }>,
): string {
  const what = `the file was ${isMissing ? "removed" : "replaced by another"} while it was in use`;
  const copy = `${file}${RESCUED}${new Date(clock.now()).toISOString().replace(/[-:]|\.\d+/g, "")}`;
  try {
    endTransaction(database);
    copyTo(database, copy);
    // The copy holds the log as well, which would be taken for one of the file that is there now.
    if (isLogOurs && !isMissing) rmSync(`${file}-wal`, { force: true });
    return `${what}; what it held is saved in ${copy}`;
  } catch (error) {
    return `${what}, and what it held could not be saved: ${error instanceof Error ? error.message : "unknown"}`;
  }
}

function endTransaction(database: SqliteDatabase): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // None had begun, or it is committed already.
  }
}

/**
 * Watches an open data file: it may be removed or replaced, and its disk may fail or fill. Reports each trouble once; a
 * replaced file is given up.
 */
import { statfsSync, statSync } from "node:fs";
import path from "node:path";
import { type StoreEvent, StoreFileError } from "../../store-errors.ts";

export interface FileWatch {
  /** Throws if the path of the file or its log no longer leads to the opened one. */
  readonly look: () => void;
  readonly uncommitted: (error: unknown) => unknown;
  readonly recover: () => void;
  readonly failed: (error: unknown) => unknown;
  readonly refusal: () => StoreFileError | null;
  readonly trouble: () => StoreFileError | null;
  readonly lost: Promise<StoreFileError>;
}

/** A disk with less space counts as full: libraries may report that as an I/O error. */
const ROOM_BYTES_MIN = 128 * 1024;
const NOT_SAVED = "the disk reports an error; the service has stopped, as it cannot tell what is saved";

/** `file` is open; null for a database in memory. */
export function createFileWatch(file: string | null, onEvent: (event: StoreEvent) => void): FileWatch {
  const state: { trouble: StoreFileError | null; refusal: StoreFileError | null } = { trouble: null, refusal: null };
  const loss = createLoss();
  const names = file === null ? [] : [file, `${file}-wal`];
  const opened = names.map(fileIdentity);

  const giveUp = (what: string, options?: ErrorOptions): StoreFileError => {
    state.refusal = new StoreFileError("changed", `${file}: ${what}`, options);
    loss.resolve(state.refusal);
    return state.refusal;
  };
  const look = (): void => {
    const changed = names.find((name, at) => fileIdentity(name) !== opened[at]);
    if (changed === undefined) return;
    const what = changed === file ? "the file" : `its log ${changed}`;
    const how = fileIdentity(changed) === null ? "removed" : "replaced by another";
    throw giveUp(`${what} was ${how} while it was in use; the service has stopped, as nothing is saved there any more`);
  };
  return {
    look,
    uncommitted: (error) => {
      const isOfDisk = error instanceof StoreFileError && error.trouble === "unreadable";
      if (!isOfDisk || file === null || hasNoRoom(file)) return error;
      // The system may have dropped what it couldn't write, so a retry would prove nothing.
      return giveUp(NOT_SAVED, { cause: error });
    },
    recover: () => {
      if (state.trouble !== null) onEvent({ kind: "recovered" });
      state.trouble = null;
    },
    failed: (error) => {
      if (!(error instanceof StoreFileError)) return error;
      const trouble = file === null ? error : nameTrouble(file, error);
      if (state.trouble?.trouble !== trouble.trouble) onEvent({ kind: "trouble", error: trouble });
      state.trouble = trouble;
      return trouble;
    },
    refusal: () => state.refusal,
    trouble: () => state.trouble,
    lost: loss.promise,
  };
}

function fileIdentity(name: string): string | null {
  const found = statSync(name, { bigint: true, throwIfNoEntry: false });
  return found === undefined ? null : `${found.dev} ${found.ino}`;
}

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

export function hasNoRoom(file: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(path.dirname(file));
    return bavail * bsize < ROOM_BYTES_MIN;
  } catch {
    return false;
  }
}

/**
 * Whether the data file and its log are still the ones that were opened. A few stats a commit: SQLite does not notice
 * when its file is removed or replaced.
 */
import { closeSync, openSync, readSync, statSync, type BigIntStats } from "node:fs";

export type Change =
  /** The data file is not there any more, or another file is in its place. */
  | { readonly kind: "file"; readonly isMissing: boolean; readonly isLogOurs: boolean }
  /** The log was removed or replaced, as by a program that read the file and closed it again. */
  | { readonly kind: "log"; readonly isFileUntouched: boolean };

export interface FileGuard {
  /**
   * What other programs have done; null for nothing. After a commit the file may have changed by our own checkpoint,
   * and is from then on compared with what it is now.
   */
  readonly check: (when: "before commit" | "after commit") => Change | null;
}

/** File change counter, size in pages and all that follows; see the SQLite file format, 1.3. */
const HEADER_BYTES = 100;

/** Begins with the file and log that are there now, which must be those that the engine has open. */
export function createFileGuard(file: string): FileGuard {
  const state: { seen: Seen } = { seen: { main: statOf(file), log: statOf(`${file}-wal`) } };

  const isUntouched = (main: BigIntStats): boolean => {
    const before = state.seen.main;
    return before === null || (main.mtimeNs === before.mtimeNs && main.size === before.size);
  };
  return {
    check: (when) => {
      const main = statOf(file);
      const log = statOf(`${file}-wal`);
      const isLogOurs = isSame(log, state.seen.log);
      if (main === null || !isSame(main, state.seen.main)) return { kind: "file", isMissing: main === null, isLogOurs };
      if (!isLogOurs) return { kind: "log", isFileUntouched: isUntouched(main) };
      if (when === "after commit" && main.mtimeNs !== state.seen.main?.mtimeNs) state.seen = { ...state.seen, main };
      return null;
    },
  };
}

interface Seen {
  readonly main: BigIntStats | null;
  readonly log: BigIntStats | null;
}

function statOf(file: string): BigIntStats | null {
  return statSync(file, { bigint: true, throwIfNoEntry: false }) ?? null;
}

function isSame(one: BigIntStats | null, other: BigIntStats | null): boolean {
  return one?.ino === other?.ino && one?.dev === other?.dev;
}

/** The first bytes of a data file as they are on disk; empty where they cannot be read. */
export function readHeader(file: string): string {
  try {
    // To open a pipe would wait for its writer.
    if (!statSync(file).isFile()) return "";
    const descriptor = openSync(file, "r");
    try {
      const header = Buffer.alloc(HEADER_BYTES);
      return header.toString("latin1", 0, readSync(descriptor, header, 0, HEADER_BYTES, 0));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return "";
  }
}

/** Copies of the data file as it is at one moment, made while the service reads and writes. */
import { closeSync, openSync, writeSync } from "node:fs";
import { type FileHandle, open, rm } from "node:fs/promises";
import { RUN_OFFSET } from "./data-file.ts";
import type { SqliteDatabase } from "./database.ts";
import type { FileWatch } from "./file-watch.ts";
import type { JobQueue } from "./job-queue.ts";

export interface FileCopier {
  /**
   * Writes the copy to a new file that only this user may read, and syncs it. Resolves with what `look` has found at the
   * moment of the copy. Rejects with the system's error when the file cannot be written; then there is none.
   */
  copy<Found>(target: string, look: () => Promise<Found>): Promise<Found>;
  /** Runs work that changes the data file itself, while no copy is made. */
  alone<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Gives up the copy that is being made; later ones are refused. */
  stop(): Promise<void>;
  /** Call it when the database is closed, and not before. */
  close(): Promise<void>;
}

export interface FileCopierOptions {
  readonly file: string;
  readonly database: SqliteDatabase;
  readonly queue: JobQueue;
  readonly watch: Pick<FileWatch, "afterCommit" | "beforeCommit" | "refusal">;
}

/** Large, since each waits for turns of a loop that is busy with requests, and the log grows meanwhile. */
const PIECE_BYTES = 4 * 1024 * 1024;
/** As SQLite's own default of 4 MB, times four; see `configure`. */
const CHECKPOINT_PAGES = 4000;

/**
 * Writes go to the log alone, and only a checkpoint brings them into the file: as long as none runs, the file is what it
 * was at the last one. So a copy needs no turn of the writers but the short one in which it begins.
 */
export function createFileCopier({ file, database, queue, watch }: FileCopierOptions): FileCopier {
  const stopping = new AbortController();
  const state: { last: Promise<unknown>; source: FileHandle | null } = { last: Promise.resolve(), source: null };

  const freeze = async <Found>(look: () => Promise<Found>): Promise<Found> =>
    queue.read(async () => {
      watch.beforeCommit();
      database.exec("PRAGMA wal_autocheckpoint = 0");
      emptyLog(database);
      watch.afterCommit();
      return look();
    });
  const thaw = (): Promise<void> =>
    queue.read(async () => database.exec(`PRAGMA wal_autocheckpoint = ${CHECKPOINT_PAGES}`));
  const copyFrozen = async <Found>(handle: FileHandle, look: () => Promise<Found>): Promise<Found> => {
    try {
      const found = await freeze(look);
      // Kept open: to close a second descriptor of the file would drop the locks of an engine that has some.
      state.source ??= await open(file, "r");
      await copyBytes(state.source, handle, stopping.signal);
      const refusal = watch.refusal();
      if (refusal !== null) throw refusal;
      return found;
    } finally {
      // A store that closes checkpoints by itself.
      await thaw().catch(() => undefined);
    }
  };
  const inTurn = async <Result>(work: () => Promise<Result>): Promise<Result> => {
    const before = state.last;
    const result = before.then(work);
    state.last = result.catch(() => undefined);
    return result;
  };
  return {
    copy: (target, look) =>
      inTurn(async () => {
        stopping.signal.throwIfAborted();
        const handle = await open(target, "wx", 0o600);
        try {
          const found = await copyFrozen(handle, look);
          await handle.sync();
          await handle.close();
          return found;
        } catch (error) {
          await handle.close();
          await rm(target, { force: true });
          throw error;
        }
      }),
    alone: inTurn,
    stop: async () => {
      stopping.abort(new Error("the store is closed"));
      await state.last;
    },
    close: async () => state.source?.close(),
  };
}

function emptyLog(database: SqliteDatabase): void {
  const [row] = database.all("PRAGMA wal_checkpoint(TRUNCATE)");
  if (row?.busy !== 0) throw new Error("the log could not be written into the file");
}

async function copyBytes(source: FileHandle, target: FileHandle, signal: AbortSignal): Promise<void> {
  const piece = Buffer.allocUnsafe(PIECE_BYTES);
  for (let at = 0; ;) {
    signal.throwIfAborted();
    const { bytesRead } = await source.read(piece, 0, piece.length, at);
    if (bytesRead === 0) return;
    if (at === 0) for (const { offset, bytes } of HEADER_OF_A_COPY) piece.set(bytes, offset);
    for (let written = 0; written < bytesRead;)
      written += (await target.write(piece, written, bytesRead - written, at + written)).bytesWritten;
    at += bytesRead;
    // What piles up unsynced would hold up the syncs of the log.
    await target.datasync();
  }
}

/**
 * No run has its number, so that a log of another copy is not taken for its own when it is put back. And it has no log,
 * so that it can be read where nothing can be written.
 */
const HEADER_OF_A_COPY: readonly { readonly offset: number; readonly bytes: Uint8Array }[] = [
  { offset: 18, bytes: Uint8Array.of(1, 1) },
  { offset: RUN_OFFSET, bytes: new Uint8Array(4) },
];

/** Makes a plain copy of a closed data file one that `copy` would have made. */
export function markAsCopy(file: string): void {
  const descriptor = openSync(file, "r+");
  try {
    for (const { offset, bytes } of HEADER_OF_A_COPY) writeSync(descriptor, bytes, 0, bytes.length, offset);
  } finally {
    closeSync(descriptor);
  }
}

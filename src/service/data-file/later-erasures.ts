import { readdir } from "node:fs/promises";
import path from "node:path";
import type { Store } from "../domain/ports.ts";
import { applyErasureLog } from "../domain/privacy/erase.ts";
import { type ErasureLog, readErasureLog } from "../domain/privacy/erasure-log.ts";
import { isUnusedCopy } from "../store/sqlite/engine/data-file.ts";
import { readCopiedErasures } from "../store/sqlite/inspect-copy.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { ERASURES_SUFFIX, isLogIn, readErasureFile } from "./erasure-file.ts";

export interface LaterErasures {
  readonly logs: readonly ErasureLog[];
  readonly unread: string | null;
}

export interface CopyPlaces {
  readonly backup: string;
  readonly dataFile: string | null;
}

/** Reads every erasure log that can name people in the backup. Throws StoreFileError for an unreadable log. */
export async function readLaterErasures(copy: Store, { backup, dataFile }: CopyPlaces): Promise<LaterErasures> {
  const place = await copy.read((tx) => tx.tables.mark("erasures"));
  const folders = [backup, ...(dataFile === null ? [] : [dataFile])].map((file) => path.dirname(path.resolve(file)));
  const files = new Set(place === null ? [] : [place]);
  for (const folder of new Set(folders))
    for (const name of await readdir(folder)) if (name.endsWith(ERASURES_SUFFIX)) files.add(path.join(folder, name));
  const logs: (ErasureLog | null)[] = [];
  for (const file of files) logs.push(await readErasureFile(file));
  const [, newest = ""] = /^(.+)\.\d+$/.exec(backup) ?? [];
  let unread: string | null = null;
  if (isUnusedCopy(newest)) {
    const read = await readCopiedErasures(newest).catch(asReason);
    if (typeof read === "string") unread = `${newest}: ${read}; nobody was erased by it`;
    else logs.push(read);
  }
  return { logs: logs.filter((log) => log !== null), unread };
}

/**
 * Returns the message instead of throwing, because one damaged backup must not keep an older one from being restored.
 */
function asReason(error: unknown): string {
  if (error instanceof StoreFileError) return error.message;
  throw error;
}

export async function applyLaterErasures(store: Store, { logs }: LaterErasures): Promise<number> {
  let erased = 0;
  for (const log of logs) {
    const own = await store.read(readErasureLog);
    // A log with a different secret belongs to another server.
    if (log.secret === own.secret && !isLogIn(log, own)) erased += await applyErasureLog(store, log);
  }
  return erased;
}

/** The erasures that a backup does not know, since they came after it: a restore leaves those people out. */
import { readdir } from "node:fs/promises";
import path from "node:path";
import type { Store } from "../domain/ports.ts";
import { applyErasureLog } from "../domain/privacy/erase.ts";
import { type ErasureLog, readErasureLog } from "../domain/privacy/erasure-log.ts";
import { isUnusedCopy } from "../store/sqlite/engine/data-file.ts";
import { readCopiedErasures } from "../store/sqlite/inspect-copy.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { ERASURES_SUFFIX, isLogIn, readErasureFile } from "./erasure-file.ts";

/** The erasures since a copy was made, as far as this machine knows. */
export interface LaterErasures {
  readonly erased: number;
  /** The logs that cannot be read, and why. */
  readonly unread: readonly string[];
}

export interface CopyPlaces {
  readonly backup: string;
  /** Null for a database. */
  readonly dataFile: string | null;
}

/**
 * Erases from `store`, which was filled from `copy`, the people whom a log of its service names: the log next to the
 * file that was copied, one in the folder of the backup or of the new file, or the one in the newest backup of the
 * series.
 */
export async function applyLaterErasures(copy: Store, store: Store, places: CopyPlaces): Promise<LaterErasures> {
  const unread: string[] = [];
  let erased = 0;
  for (const read of await findLogs(copy, places)) {
    const log = await read().catch((error: unknown) => {
      if (!(error instanceof StoreFileError)) throw error;
      unread.push(error.message);
      return null;
    });
    const own = await store.read(readErasureLog);
    // Of another secret it is another service's, which may have come to be there.
    if (log !== null && log.secret === own.secret && !isLogIn(log, own)) erased += await applyErasureLog(store, log);
  }
  return { erased, unread };
}

async function findLogs(
  copy: Store,
  { backup, dataFile }: CopyPlaces,
): Promise<readonly (() => Promise<ErasureLog | null>)[]> {
  const place = await copy.read((tx) => tx.tables.mark("erasures"));
  const folders = [backup, ...(dataFile === null ? [] : [dataFile])].map((file) => path.dirname(path.resolve(file)));
  const files = new Set(place === null ? [] : [place]);
  for (const folder of new Set(folders))
    for (const name of await readdir(folder)) if (name.endsWith(ERASURES_SUFFIX)) files.add(path.join(folder, name));
  const [, newest = ""] = /^(.+)\.\d+$/.exec(backup) ?? [];
  const logs = [...files].map((file) => () => readErasureFile(file));
  return isUnusedCopy(newest) ? [...logs, () => readBackup(newest)] : logs;
}

/** Throws StoreFileError. */
async function readBackup(file: string): Promise<ErasureLog> {
  try {
    return await readCopiedErasures(file);
  } catch (error) {
    if (!(error instanceof StoreFileError)) throw error;
    throw new StoreFileError(error.trouble, `${file}: ${error.message}; nobody was erased by it`, { cause: error });
  }
}

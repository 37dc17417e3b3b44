/**
 * The log of erasures next to the data file. It outlives that file, so that a backup which is put in its place does not
 * bring anybody back. A copy knows the place of that log, for a restore to another place.
 */
import * as v from "valibot";
import { readRegular } from "../../runtime/files/file-kind.ts";
import { wordsOfRefusal } from "../../runtime/files/system-words.ts";
import { replaceFile, resolveFile } from "../../runtime/files/file-replacement.ts";
import type { Random } from "../../runtime/random.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { applyErasureLog } from "../domain/privacy/erase.ts";
import { type ErasureLog, readErasureLog } from "../domain/privacy/erasure-log.ts";
import type { Store } from "../domain/ports.ts";

/** Of the name of a log, after that of its data file. */
export const ERASURES_SUFFIX = ".erasures";

const LOG = v.object({
  secret: v.string(),
  projects: v.array(v.object({ name: v.string(), entries: v.array(v.object({ hash: v.string(), at: v.number() })) })),
});

/**
 * Erases from the store the people whom the log next to its file names and the store's own does not, then writes that
 * log anew. Returns the number of people erased. Rejects with StoreFileError when the log cannot be read, and as
 * `replaceFile` does.
 */
export async function syncErasures(store: Store, dataFile: string, random: Pick<Random, "token">): Promise<number> {
  const file = resolveFile(dataFile) + ERASURES_SUFFIX;
  const place = await store.read((tx) => tx.tables.mark("erasures"));
  if (place !== file) await store.write((tx) => tx.tables.setMark("erasures", file), { project: "none" });
  const kept = await readErasureFile(file);
  const isKnown = kept === null || isLogIn(kept, await store.read(readErasureLog));
  const erased = isKnown ? 0 : await applyErasureLog(store, kept);
  const log = await store.read(readErasureLog);
  if (kept === null ? isEmpty(log) : isLogIn(log, kept)) return erased;
  await replaceFile(file, `${JSON.stringify(log)}\n`, random.token(9));
  return erased;
}

/** Null where there is none. Throws StoreFileError for a file that is no log. */
export async function readErasureFile(file: string): Promise<ErasureLog | null> {
  try {
    return v.parse(LOG, JSON.parse(await readRegular(file)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return null;
    const what = code === undefined ? "the file is not a log of erasures" : wordsOfRefusal(error);
    throw new StoreFileError("unreadable", `${file}: ${what}; nobody was erased by it`, { cause: error });
  }
}

function isEmpty({ projects }: ErasureLog): boolean {
  return projects.every(({ entries }) => entries.length === 0);
}

/** True where another log has every entry of this one, or a later erasure of the same. */
export function isLogIn(log: ErasureLog, other: ErasureLog): boolean {
  const known = timesOf(other);
  return log.secret === other.secret && [...timesOf(log)].every(([key, at]) => (known.get(key) ?? -1) >= at);
}

/** When each was erased last, by project and hash. */
function timesOf({ projects }: ErasureLog): ReadonlyMap<string, number> {
  return new Map(
    projects.flatMap(({ name, entries }) => entries.map(({ hash, at }) => [JSON.stringify([name, hash]), at] as const)),
  );
}

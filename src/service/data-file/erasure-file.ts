/**
 * The log of erasures beside the data file. It outlives that file, so that a backup which is put in its place does not
 * bring anybody back.
 */
import * as v from "valibot";
import { readRegular } from "../../runtime/files/file-kind.ts";
import { replaceFile, resolveFile } from "../../runtime/files/file-replacement.ts";
import type { Random } from "../../runtime/random.ts";
import { applyErasureLog } from "../domain/privacy/erase.ts";
import { type ErasureLog, readErasureLog } from "../domain/privacy/erasure-log.ts";
import type { Store } from "../domain/ports.ts";

const LOG = v.object({
  secret: v.string(),
  projects: v.array(v.object({ name: v.string(), entries: v.array(v.object({ hash: v.string(), at: v.number() })) })),
});

/**
 * Erases from the store whom the log beside its file names and the store's own does not, then writes that log anew.
 * Returns how many people were erased. Rejects when the log cannot be read or written.
 */
export async function syncErasures(store: Store, dataFile: string, random: Pick<Random, "token">): Promise<number> {
  const file = `${resolveFile(dataFile)}.erasures`;
  const kept = await readLog(file);
  const isKnown = kept === null || isIn(kept, await store.read(readErasureLog));
  const erased = isKnown ? 0 : await applyErasureLog(store, kept);
  const log = await store.read(readErasureLog);
  if (kept === null ? isEmpty(log) : isIn(log, kept)) return erased;
  await replaceFile(file, `${JSON.stringify(log)}\n`, random.token(9));
  return erased;
}

async function readLog(file: string): Promise<ErasureLog | null> {
  try {
    return v.parse(LOG, JSON.parse(await readRegular(file)));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw new Error(`${file} is not a log of erasures; nobody was erased by it`, { cause: error });
  }
}

function isEmpty({ projects }: ErasureLog): boolean {
  return projects.every(({ entries }) => entries.length === 0);
}

/** Whether another log has every entry of this one. */
function isIn(log: ErasureLog, other: ErasureLog): boolean {
  const known = new Set(keysOf(other));
  return log.secret === other.secret && keysOf(log).every((key) => known.has(key));
}

function keysOf({ projects }: ErasureLog): string[] {
  return projects.flatMap(({ name, entries }) => entries.map(({ hash, at }) => JSON.stringify([name, hash, at])));
}

/** The erasure log survives the data file, so that restoring a backup doesn't bring erased people back. */
import { lstatSync } from "node:fs";
import * as v from "valibot";
import { readRegular } from "../../runtime/files/file-kind.ts";
import { systemErrorText } from "../../runtime/files/system-words.ts";
import { replaceFile, resolveFile } from "../../runtime/files/file-replacement.ts";
import type { Random } from "../../runtime/random.ts";
import { keepMark } from "../store/sql/store-marks.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { applyErasureLog } from "../domain/privacy/erase.ts";
import { type ErasureLog, readErasureLog } from "../domain/privacy/erasure-log.ts";
import type { Store } from "../domain/ports.ts";

export const ERASURES_SUFFIX = ".erasures";

const LOG = v.object({
  secret: v.string(),
  projects: v.array(v.object({ name: v.string(), entries: v.array(v.object({ hash: v.string(), at: v.number() })) })),
});

/** Erases people named only in the log, then updates the log. Rejects with StoreFileError for an unreadable log. */
export async function syncErasures(store: Store, dataFile: string, random: Pick<Random, "token">): Promise<number> {
  const file = resolveFile(dataFile) + ERASURES_SUFFIX;
  await keepMark(store, "erasures", file);
  const kept = await readErasureFile(file);
  const isKnown = kept === null || isLogIn(kept, await store.read(readErasureLog));
  const erased = isKnown ? 0 : await applyErasureLog(store, kept);
  const log = await store.read(readErasureLog);
  if (isLogIn(log, kept ?? { secret: log.secret, projects: [] })) return erased;
  await replaceFile(file, `${JSON.stringify(log)}\n`, random.token(9));
  return erased;
}

export async function readErasureFile(file: string): Promise<ErasureLog | null> {
  try {
    return v.parse(LOG, JSON.parse(await readRegular(file)));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const isMissing = code === "ENOENT" || code === "ENOTDIR";
    // A dangling link may have pointed to a log.
    if (isMissing && lstatSync(file, { throwIfNoEntry: false }) === undefined) return null;
    const isText = error instanceof SyntaxError || error instanceof v.ValiError;
    const what = isText ? "it isn't an erasure log" : systemErrorText(error);
    throw new StoreFileError("unreadable", `cannot read the erasure log ${file}: ${what}; ${WAY_OUT}`, {
      cause: error,
    });
  }
}

const WAY_OUT = "put it back; delete it only if the data isn't from a backup, which would bring erased people back";

/** True if `other` has every entry of `log`, with the same or a later time. */
export function isLogIn(log: ErasureLog, other: ErasureLog): boolean {
  const known = lastErasures(other);
  return log.secret === other.secret && [...lastErasures(log)].every(([key, at]) => (known.get(key) ?? -1) >= at);
}

function lastErasures({ projects }: ErasureLog): ReadonlyMap<string, number> {
  return new Map(
    projects.flatMap(({ name, entries }) => entries.map(({ hash, at }) => [JSON.stringify([name, hash]), at] as const)),
  );
}

import { createHash } from "node:crypto";
import { createReadStream, existsSync, lstatSync } from "node:fs";
import { link, readdir, rename, rm, stat } from "node:fs/promises";
import path from "node:path";
import { isSameFile, lockName, syncFolder, TEMPORARY_SUFFIX } from "../../runtime/files/file-replacement.ts";
import { type Lock, LockedError, type LockWatch, takeLock } from "../../runtime/files/lock-file.ts";
import { systemErrorText } from "../../runtime/files/system-words.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store, StoreContents } from "../domain/ports.ts";
import { StoreFileError } from "../store/store-errors.ts";
import { isUnusedCopy } from "../store/sqlite/engine/data-file.ts";
import { type CopyFacts, inspectCopy, markBegun } from "../store/sqlite/inspect-copy.ts";

/** The given file can't be read or written; nothing was started. */
export class FileChoiceError extends Error {
  override readonly name = "FileChoiceError";
}

/** The copy failed or is damaged; the target is unchanged. */
export class CopyFailedError extends Error {
  override readonly name = "CopyFailedError";
}

export interface BackupOptions {
  readonly copy: (temporary: string) => Promise<StoreContents>;
  readonly dataFile: string | null;
  readonly file: string;
  /** How many backups to keep, including the new one; null refuses to replace a file. */
  readonly keep: number | null;
  readonly clock: Clock;
  readonly random: Random;
  readonly signal: AbortSignal;
  readonly watch?: LockWatch;
}

export interface BackupInfo extends StoreContents {
  readonly file: string;
  readonly bytes: number;
  readonly rows: number;
  readonly schema: number;
  readonly sha256: string;
}

const TOKEN_BYTES = 9;

export async function backUp(options: BackupOptions) {
  const target = path.resolve(options.file);
  await checkTarget(options);
  const lock = await lockCopies(target, options.file, options);
  const temporary = `${target}.${options.random.token(TOKEN_BYTES)}${TEMPORARY_SUFFIX}`;
  try {
    await removeLeftCopies(target);
    const begun = unixSeconds(options.clock);
    const contents = await Promise.race([options.copy(temporary), rejectOnAbort(options.signal)]);
    await markBegun(temporary, begun).catch((error: unknown) => rejectCopy(options.file, error));
    const facts = await checkCopy(options.file, temporary, contents);
    const { size } = await stat(temporary);
    const sha256 = await hashFile(temporary);
    options.signal.throwIfAborted();
    await checkTarget(options);
    const removed = await putInPlace(temporary, target, options.keep);
    const rows = Object.values(facts.rows).reduce((sum, count) => sum + count, 0);
    const info = { file: options.file, bytes: size, rows, ...contents, schema: facts.schema, sha256 };
    return { info, removed };
  } finally {
    await removeCopy(temporary);
    await lock.release();
  }
}

/** Allows one run at a time per target. Throws FileChoiceError. */
export async function lockCopies(
  target: string,
  shown: string,
  { random, watch }: Pick<BackupOptions, "random" | "watch">,
): Promise<Lock> {
  try {
    return await takeLock(lockName(target), random.token(TOKEN_BYTES), watch);
  } catch (error) {
    if (error instanceof LockedError)
      throw new FileChoiceError(`${shown} is being written by another run`, { cause: error });
    throw new FileChoiceError(`cannot write ${shown}: ${systemErrorText(error)}`, { cause: error });
  }
}

async function checkTarget({ file, keep, dataFile }: BackupOptions): Promise<void> {
  if (!existsSync(path.dirname(file)))
    throw new FileChoiceError(`cannot write ${file}: the folder ${path.dirname(file)} does not exist`);
  if (dataFile !== null && (await isSameFile(file, dataFile)))
    throw new FileChoiceError(`${file} is the data file itself`);
  const found = lstatSync(file, { throwIfNoEntry: false });
  if (found?.isDirectory() === true) throw new FileChoiceError(`${file} is a folder`);
  if (found !== undefined && keep === null) throw new FileChoiceError(`${file} already exists; name another file`);
  if (existsSync(`${file}-wal`))
    throw new FileChoiceError(`${file}-wal is the log of another data file; name another file`);
  for (let n = 0; n < (keep ?? 1); n += 1) {
    const name = backupName(file, n);
    if (existsSync(name) && !isUnusedCopy(name)) throw new FileChoiceError(`${name} exists and is not a backup`);
  }
}

export function copyThrough(store: Pick<Store, "backup">, file: string): BackupOptions["copy"] {
  return (temporary) => store.backup(temporary).catch((error: unknown) => rejectCopy(file, error));
}

function rejectCopy(file: string, error: unknown): never {
  throw new CopyFailedError(`cannot write ${file}: ${systemErrorText(error)}`, { cause: error });
}

function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason as Error);
    onAbort(signal, () => reject(signal.reason as Error));
  });
}

async function checkCopy(file: string, temporary: string, contents: StoreContents): Promise<CopyFacts> {
  const facts = await inspectCopy(temporary).catch((error: unknown) => {
    if (!(error instanceof StoreFileError)) throw error;
    throw new CopyFailedError(`${file}: the copy cannot be used: ${error.message}`, { cause: error });
  });
  const [finding] = facts.findings;
  if (finding !== undefined) throw new CopyFailedError(`${file}: the copy is damaged: ${finding}`);
  const { projects, responses } = facts.rows;
  const stored = { projects, people: facts.people, responses, surveys: facts.surveys };
  for (const name of ["projects", "people", "responses", "surveys"] as const)
    if (stored[name] !== contents[name])
      throw new CopyFailedError(`${file}: the copy has ${stored[name] ?? 0} ${name} instead of ${contents[name]}`);
  return facts;
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file, { highWaterMark: 1024 * 1024 })) hash.update(chunk as Uint8Array);
  return hash.digest("hex");
}

function backupName(file: string, n: number): string {
  return n === 0 ? file : `${file}.${n}`;
}

async function putInPlace(temporary: string, target: string, keep: number | null): Promise<string[]> {
  // Renumbers the backups up to the first gap, which a killed run can leave. Without a gap, the oldest is dropped.
  let free = 0;
  while (free < (keep ?? 1) - 1 && existsSync(backupName(target, free))) free += 1;
  for (let n = free; n > 1; n -= 1) await rename(backupName(target, n - 1), backupName(target, n));
  if (free > 0) await giveSecondName(target, backupName(target, 1));
  await rename(temporary, target);
  const removed: string[] = [];
  for (let n = keep ?? Infinity; isUnusedCopy(backupName(target, n)); n += 1) {
    await rm(backupName(target, n));
    removed.push(path.basename(backupName(target, n)));
  }
  await syncFolder(path.dirname(target));
  return removed;
}

async function giveSecondName(file: string, second: string): Promise<void> {
  try {
    await rm(second, { force: true });
    await link(file, second);
  } catch {
    await rename(file, second);
  }
}

/** Files that SQLite leaves next to a database when it is killed. */
const FILE_SUFFIXES = ["", "-wal", "-shm", "-journal"];

export async function removeCopy(file: string): Promise<void> {
  for (const suffix of FILE_SUFFIXES) await rm(`${file}${suffix}`, { recursive: true, force: true });
}

/** Removes the copies that killed runs left for `target`. The caller holds the lock. */
export async function removeLeftCopies(target: string): Promise<void> {
  for (const left of await findLeftCopies(target)) await rm(left, { recursive: true, force: true });
}

async function findLeftCopies(target: string): Promise<string[]> {
  const [folder, beginning] = [path.dirname(target), `${path.basename(target)}.`];
  const isLeft = (name: string): boolean => {
    const [token = "", rest] = name.startsWith(beginning) ? name.slice(beginning.length).split(TEMPORARY_SUFFIX) : [];
    return rest !== undefined && !token.includes(".") && FILE_SUFFIXES.includes(rest);
  };
  return (await readdir(folder)).filter(isLeft).map((name) => path.join(folder, name));
}

/** Does nothing if a running process holds the lock. */
export async function removeAbandonedCopies(target: string, random: Pick<Random, "token">): Promise<void> {
  if ((await findLeftCopies(target)).length === 0) return;
  const lock = await takeLock(lockName(target), random.token(TOKEN_BYTES), null).catch(() => null);
  if (lock === null) return;
  try {
    await removeLeftCopies(target);
  } finally {
    await lock.release();
  }
}

import { createHash } from "node:crypto";
import { link, open, readFile, stat, unlink, utimes, writeFile } from "node:fs/promises";
import { systemClock } from "../clock.ts";
import { specialKind } from "./file-kind.ts";
import { UnwritableFileError } from "./file-replacement.ts";
import { currentProcess, currentSpace, isRunning, type ProcessMark } from "./processes.ts";

export class LockedError extends Error {
  override readonly name = "LockedError";
  readonly file: string;
  readonly pid: number | null;

  constructor(file: string, pid: number | null) {
    super(pid === null ? `${file} is held by another run` : `${file} is held by another run, process ${pid}`);
    this.file = file;
    this.pid = pid;
  }
}

export interface Lock {
  release(): Promise<void>;
}

const NEW_FILE = { flag: "wx", mode: 0o600 };
/**
 * Holders touch the file this often, so that processes in other containers or on other machines see that they are
 * alive.
 */
const TOUCH_MS = 10_000;
const UNTOUCHED_MS = 60_000;
/**
 * How long to watch a file that looks old before taking its holder for dead, because clocks differ. Allows for one
 * missed touch.
 */
const WATCH_MS = 25_000;
/** Locks held by this process. A process id isn't enough, because a dead process may have had the same one. */
const held = new Set<string>();

export type LockWatch = (ms: number, file: string) => Promise<void>;

/**
 * Takes the lock, even from a dead process. Throws `LockedError` while its holder runs, and `UnwritableFileError` if
 * the name isn't a regular file. Without `watch`, a lock that would have to be watched counts as held.
 */
export async function takeLock(
  file: string,
  token: string,
  watch: LockWatch | null = (ms) => systemClock.sleep(ms),
): Promise<Lock> {
  await refuseSpecial(file);
  const mark = { ...(await currentProcess()), space: await currentSpace(), token };
  // Added before the file exists, so that another call in this process doesn't take its holder for dead.
  held.add(token);
  try {
    await takeFrom(file, JSON.stringify(mark), token, watch);
    return hold(file, token);
  } catch (error) {
    held.delete(token);
    throw error;
  }
}

/** Quick, but can be wrong about a holder on another machine. */
export async function isLocked(file: string): Promise<boolean> {
  await refuseSpecial(file);
  const found = await readHolder(file);
  return found !== null && (await isAlive(file, found.holder, async () => {}));
}

async function refuseSpecial(file: string): Promise<void> {
  const found = await stat(file).catch(() => null);
  const kind = found === null ? null : specialKind(found);
  if (kind !== null) throw new UnwritableFileError(`the lock ${file} is ${kind}, not a regular file`);
}

function hold(file: string, token: string): Lock {
  const timer = setInterval(() => void touch(file), TOUCH_MS);
  timer.unref();
  return {
    release: async () => {
      clearInterval(timer);
      if ((await readHolder(file))?.holder?.token === token) await unlink(file).catch(() => undefined);
      held.delete(token);
    },
  };
}

async function takeFrom(file: string, content: string, token: string, watch: LockWatch | null): Promise<void> {
  const aside = `${file}.${token}`;
  if (await create(file, content, aside)) return;
  await removeDead(file, token, watch);
  if (await create(file, content, aside)) return;
  throw new LockedError(file, (await readHolder(file))?.holder?.pid ?? null);
}

/** Creates the file atomically, because a lock that doesn't name its holder could never be taken over. */
async function create(file: string, content: string, aside: string): Promise<boolean> {
  try {
    await writeFile(aside, content, NEW_FILE);
    await link(aside, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code !== undefined && NO_LINKS.has(code)) return createInPlace(file, content);
    throw error;
  } finally {
    await unlink(aside).catch(() => undefined);
  }
}

/** Errors of file systems without hard links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"]);

async function createInPlace(file: string, content: string): Promise<boolean> {
  try {
    await writeFile(file, content, NEW_FILE);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a dead holder's file under a second lock, so that a slower process can't remove a new holder's file. */
async function removeDead(file: string, token: string, watch: LockWatch | null): Promise<void> {
  const found = await readHolder(file);
  if (found === null) return;
  if (await isAlive(file, found.holder, watch)) throw new LockedError(file, found.holder?.pid ?? null);
  const dead = createHash("sha256").update(found.text).digest("hex").slice(0, 12);
  const guard = await takeLock(`${file}.${dead}`, `${token}.${dead}`, watch).catch((error: unknown) => {
    throw error instanceof LockedError ? new LockedError(file, error.pid) : error;
  });
  try {
    if ((await readHolder(file))?.text === found.text) await unlink(file);
  } finally {
    await guard.release();
  }
}

async function isAlive(file: string, holder: Holder | null, watch: LockWatch | null): Promise<boolean> {
  // A file that names no holder can be anything, so it isn't removed.
  if (holder === null) return true;
  if (holder.space !== null && holder.space !== (await currentSpace())) return isTouched(file, watch);
  if (held.has(holder.token)) return true;
  return (await isRunning(holder)) && holder.pid !== (await currentProcess()).pid;
}

async function isTouched(file: string, watch: LockWatch | null): Promise<boolean> {
  const before = await touchedAt(file);
  if (before === null || Date.now() - before < UNTOUCHED_MS) return before !== null;
  if (watch === null) return true;
  await watch(WATCH_MS, file);
  const after = await touchedAt(file);
  return after !== null && after !== before;
}

/** Stats the open file, because network file systems cache times by name. */
async function touchedAt(file: string): Promise<number | null> {
  const handle = await open(file).catch(() => null);
  if (handle === null) return null;
  try {
    return (await handle.stat()).mtimeMs;
  } finally {
    await handle.close();
  }
}

async function touch(file: string): Promise<void> {
  const now = new Date();
  await utimes(file, now, now).catch(() => undefined);
}

interface Holder extends ProcessMark {
  readonly space: string | null;
  readonly token: string;
}

async function readHolder(file: string) {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const { pid, started, space, token } = JSON.parse(text) as Partial<Holder>;
    const holder =
      typeof pid === "number" ? { pid, started: started ?? null, space: space ?? null, token: token ?? "" } : null;
    return { text, holder };
  } catch {
    return { text, holder: null };
  }
}

/** One run at a time: a file that names the process that holds it. */
import { link, open, readFile, rename, unlink } from "node:fs/promises";
import { currentProcess, isRunning, type ProcessMark } from "./processes.ts";

/** Another run holds the lock. */
export class LockedError extends Error {
  override readonly name = "LockedError";
  readonly file: string;
  /** Null when the file does not say. */
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

const FILE_MODE = 0o600;

/** Takes the lock, also over from a process that is gone. Throws `LockedError` while its holder runs. `token` is unique. */
export async function takeLock(file: string, token: string): Promise<Lock> {
  const aside = `${file}.${token}`;
  const mine = JSON.stringify(currentProcess());
  if (!(await create(file, mine, aside))) {
    await removeDead(file, aside);
    if (!(await create(file, mine, aside))) throw new LockedError(file, (await readHolder(file))?.holder?.pid ?? null);
  }
  return { release: () => unlink(file).catch(() => {}) };
}

/** Whole or not at all: a lock without its holder's name, as a kill would leave it, could never be taken over. */
async function create(file: string, content: string, aside: string): Promise<boolean> {
  try {
    await writeNew(aside, content);
    await link(aside, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") return false;
    if (code !== undefined && NO_LINKS.has(code)) return createInPlace(file, content);
    throw error;
  } finally {
    await unlink(aside).catch(() => {});
  }
}

/** What file systems say that know no links. */
const NO_LINKS = new Set(["EPERM", "ENOTSUP", "ENOSYS", "EMLINK"]);

async function createInPlace(file: string, content: string): Promise<boolean> {
  try {
    await writeNew(file, content);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function writeNew(file: string, content: string): Promise<void> {
  const handle = await open(file, "wx", FILE_MODE);
  try {
    await handle.writeFile(content);
  } finally {
    await handle.close();
  }
}

async function removeDead(file: string, aside: string): Promise<void> {
  const found = await readHolder(file);
  if (found === null) return;
  if (found.holder === null || isRunning(found.holder)) throw new LockedError(file, found.holder?.pid ?? null);
  // Moved first and looked at again: another run may have taken the dead one's place in between.
  await rename(file, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => null);
  if (moved !== null && moved !== found.text) await link(aside, file).catch(() => createInPlace(file, moved));
  await unlink(aside).catch(() => {});
}

/** `holder` is null when the file does not name one. */
async function readHolder(
  file: string,
): Promise<{ readonly text: string; readonly holder: ProcessMark | null } | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const { pid, started } = JSON.parse(text) as Partial<ProcessMark>;
    return { text, holder: typeof pid === "number" ? { pid, started: started ?? null } : null };
  } catch {
    return { text, holder: null };
  }
}

/** One run at a time: a file that names the process that holds it. */
import { open, readFile, rename, unlink } from "node:fs/promises";
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
  const mine = JSON.stringify(currentProcess());
  if (!(await create(file, mine))) {
    await removeDead(file, `${file}.${token}`);
    if (!(await create(file, mine))) throw new LockedError(file, (await readHolder(file))?.holder?.pid ?? null);
  }
  return { release: () => unlink(file).catch(() => {}) };
}

async function create(file: string, content: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx", FILE_MODE);
    try {
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function removeDead(file: string, aside: string): Promise<void> {
  const found = await readHolder(file);
  if (found === null) return;
  if (found.holder === null || isRunning(found.holder)) throw new LockedError(file, found.holder?.pid ?? null);
  // Moved first and looked at again: another run may have taken the dead one's place in between.
  await rename(file, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => null);
  if (moved !== null && moved !== found.text) await create(file, moved);
  await unlink(aside).catch(() => {});
}

/** `holder` is null when the file does not name one. */
async function readHolder(file: string): Promise<{ readonly text: string; readonly holder: ProcessMark | null } | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const { pid, started } = JSON.parse(text) as Partial<ProcessMark>;
    return { text, holder: typeof pid === "number" ? { pid, started: started ?? null } : null };
  } catch {
    return { text, holder: null };
  }
}

/** One run at a time: a file that names the process that holds it. */
import { open, readFile, rename, unlink } from "node:fs/promises";

/** What a lock must know of the machine's processes. */
export interface ProcessTable {
  /** This process's id. */
  readonly pid: number;
  isRunning(pid: number): boolean;
}

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

interface Holder {
  readonly pid: number;
  /** When the process began, as the system counts; empty when it does not tell. Ids are used again, this is not. */
  readonly began: string;
}

/** Takes the lock, also over from a process that is gone. Throws `LockedError` while its holder runs. */
export async function takeLock(file: string, processes: ProcessTable, token: string): Promise<Lock> {
  const mine = JSON.stringify({ pid: processes.pid, began: await beganAt(processes.pid) } satisfies Holder);
  if (!(await create(file, mine))) {
    await removeDead(file, processes, token);
    if (!(await create(file, mine))) throw new LockedError(file, (await readHolder(file))?.holder?.pid ?? null);
  }
  return { release: () => unlink(file).catch(() => {}) };
}

async function create(file: string, content: string): Promise<boolean> {
  try {
    const handle = await open(file, "wx", 0o600);
    await handle.writeFile(content).finally(() => handle.close());
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return false;
    throw error;
  }
}

async function removeDead(file: string, processes: ProcessTable, token: string): Promise<void> {
  const found = await readHolder(file);
  if (found === null) return;
  if (found.holder === null || (await isAlive(found.holder, processes))) throw new LockedError(file, found.holder?.pid ?? null);
  // Moved first and looked at again: another run may have taken the dead one's place in between.
  const aside = `${file}.${token}`;
  await rename(file, aside).catch(() => {});
  const moved = await readFile(aside, "utf8").catch(() => null);
  if (moved !== null && moved !== found.text) await create(file, moved);
  await unlink(aside).catch(() => {});
}

async function isAlive({ pid, began }: Holder, processes: ProcessTable): Promise<boolean> {
  if (pid === processes.pid || !processes.isRunning(pid)) return false;
  const now = await beganAt(pid);
  return began === "" || now === "" || began === now;
}

async function readHolder(file: string): Promise<{ readonly text: string; readonly holder: Holder | null } | null> {
  const text = await readFile(file, "utf8").catch(() => null);
  if (text === null) return null;
  try {
    const { pid, began } = JSON.parse(text) as Partial<Holder>;
    return { text, holder: typeof pid === "number" ? { pid, began: began ?? "" } : null };
  } catch {
    return { text, holder: null };
  }
}

/** Linux tells when a process began, in the 22nd field; the name before it may hold blanks and brackets. */
async function beganAt(pid: number): Promise<string> {
  const text = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  return text.slice(text.lastIndexOf(")") + 2).split(" ")[19] ?? "";
}

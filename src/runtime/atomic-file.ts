import { randomBytes } from "node:crypto";
import { open, realpath, rename, rm, stat } from "node:fs/promises";
import path from "node:path";

export interface AtomicFileOptions {
  /** Mode of a new file; an existing one keeps its own. */
  readonly mode: number;
}

/**
 * Replaces a file whole or not at all: written beside it, synced, renamed, the directory synced. A symbolic link
 * stays one and its target is replaced. Throws the system's errors; the old file is then untouched.
 */
export async function writeFileAtomically(file: string, content: string | Uint8Array, { mode }: AtomicFileOptions): Promise<void> {
  const target = await resolveTarget(file);
  const temporary = temporaryBeside(target);
  const handle = await open(temporary, "wx", mode);
  try {
    await handle.chmod(await modeOf(target, mode));
    await handle.writeFile(content);
    await handle.sync();
    await handle.close();
    await rename(temporary, target);
  } catch (error) {
    await handle.close().catch(() => undefined);
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(path.dirname(target));
}

/** The file that a path means once its links are followed; the path itself when nothing is there yet. */
export async function resolveTarget(file: string): Promise<string> {
  return realpath(file).catch(() => path.resolve(file));
}

/** A name that no other run takes and that tells what it was for. */
export function temporaryBeside(target: string): string {
  return path.join(path.dirname(target), `.${path.basename(target)}.${randomBytes(6).toString("hex")}.tmp`);
}

async function modeOf(file: string, otherwise: number): Promise<number> {
  return stat(file).then(
    (found) => found.mode & 0o777,
    () => otherwise,
  );
}

/** Makes a rename survive a power cut. Systems that cannot open a directory need no such call. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r").catch(() => null);
  try {
    await handle?.sync().catch(() => undefined);
  } finally {
    await handle?.close();
  }
}

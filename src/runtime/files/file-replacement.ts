/**
 * Replaces a file atomically and durably: writes a temporary file next to it, syncs it, renames it and syncs the
 * folder. Until the rename, a kill -9 or power failure leaves the old file intact.
 */
import { constants, existsSync, realpathSync, type Stats } from "node:fs";
import { access, lstat, open, readdir, readlink, rename, stat, unlink, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { specialKind } from "./file-kind.ts";
import { systemErrorText } from "./system-words.ts";

export class UnwritableFileError extends Error {
  override readonly name = "UnwritableFileError";
}

export interface FileReplacement {
  readonly path: string;
  readonly temporary: string | null;
  /** False for an open descriptor, which is written to directly instead of being replaced. */
  readonly isWhole: boolean;
  write(bytes: Uint8Array): Promise<void>;
  commit(options?: { readonly syncsFolder: boolean }): Promise<void>;
  discard(): Promise<void>;
}

/** Identifies temporary files of killed runs. */
export const TEMPORARY_SUFFIX = ".surveyctl-tmp";
const NEW_FILE_MODE = 0o600;
const LINKS_MAX = 40;
const NAME_BYTES_MAX = 180;

/**
 * Follows links and keeps the mode of an existing file. Writes directly to an open descriptor, and refuses a named
 * pipe, socket or device. `token` makes the temporary name unique. Aborting `signal` stops waiting for a pipe's reader.
 * Throws `UnwritableFileError`.
 */
export async function openReplacement(target: string, token: string, signal?: AbortSignal): Promise<FileReplacement> {
  const file = await followLinks(target);
  const existing = await stat(file).catch(ignoreMissing);
  if (existing !== null) await checkExisting(target, file, existing);
  if (target.endsWith(path.sep)) throw new UnwritableFileError(`cannot write ${target}: that names a folder`);
  if (existing !== null && isDescriptor(file))
    return writeDirectly(target, file, await openDescriptor(target, file, existing.isFIFO(), signal));
  const temporary = path.join(path.dirname(file), `${nameStart(file)}${token}${TEMPORARY_SUFFIX}`);
  const handle = await openOrRefuse(target, temporary, "wx");
  return replaceBy(target, file, temporary, handle, existing);
}

function nameStart(file: string): string {
  return `${Buffer.from(path.basename(file)).subarray(0, NAME_BYTES_MAX).toString()}.`;
}

export function lockName(file: string): string {
  return path.join(path.dirname(file), `.${nameStart(file)}lock`);
}

/** Removes temporary files of killed runs. The caller must hold the file's lock. */
export async function removeLeftovers({ path: file, temporary }: FileReplacement): Promise<void> {
  const [folder, beginning] = [path.dirname(file), nameStart(file)];
  const names = await readdir(folder).catch((): string[] => []);
  const isLeft = (name: string): boolean =>
    name.startsWith(beginning) &&
    name.endsWith(TEMPORARY_SUFFIX) &&
    !name.slice(beginning.length, -TEMPORARY_SUFFIX.length).includes(".") &&
    path.join(folder, name) !== temporary;
  await Promise.all(names.filter(isLeft).map((name) => unlink(path.join(folder, name)).catch(() => {})));
}

async function checkExisting(target: string, file: string, existing: Stats): Promise<void> {
  if (existing.isDirectory()) throw new UnwritableFileError(`${target} is a directory`);
  const kind = specialKind(existing);
  if (kind !== null && !isDescriptor(file))
    throw new UnwritableFileError(`cannot write ${target}: it is ${kind}, not a regular file`);
  if (kind === null && (await isDatabase(file)))
    throw new UnwritableFileError(`cannot write ${target}: it is a SQLite database; name another file`);
  try {
    await access(file, constants.W_OK);
  } catch (error) {
    throw refusal(target, file, error);
  }
}

const DATABASE_HEADER = Buffer.from("SQLite format 3\0");

/** Keeps an export from overwriting a data file. False if the file can't be read. */
async function isDatabase(file: string): Promise<boolean> {
  const handle = await open(file, "r").catch(() => null);
  if (handle === null) return false;
  try {
    const beginning = Buffer.alloc(DATABASE_HEADER.length);
    await handle.read(beginning, 0, beginning.length, 0);
    return beginning.equals(DATABASE_HEADER);
  } finally {
    await handle.close();
  }
}

/** Opening a pipe blocks until someone reads from it, so on abort we open it for reading ourselves. */
async function openDescriptor(
  target: string,
  file: string,
  isPipe: boolean,
  signal: AbortSignal | undefined,
): Promise<FileHandle> {
  // Appends, to keep what the descriptor's owner has already written.
  if (!isPipe) return openOrRefuse(target, file, "a");
  signal?.throwIfAborted();
  let reader: Promise<FileHandle | null> = Promise.resolve(null);
  const read = (): void => {
    reader = open(file, constants.O_RDONLY | constants.O_NONBLOCK).catch(() => null);
  };
  signal?.addEventListener("abort", read, { once: true });
  const handle = await openOrRefuse(target, file, "w");
  signal?.removeEventListener("abort", read);
  await (await reader)?.close();
  if (signal?.aborted === true) await handle.close();
  signal?.throwIfAborted();
  return handle;
}

async function openOrRefuse(target: string, file: string, flags: "a" | "w" | "wx"): Promise<FileHandle> {
  try {
    return await open(file, flags, NEW_FILE_MODE);
  } catch (error) {
    throw refusal(target, file, error);
  }
}

function refusal(target: string, file: string, error: unknown): Error {
  const code = (error as NodeJS.ErrnoException).code ?? "";
  // If the disk is full, a message about the file's name would mislead.
  if (isDiskFull(error)) return Object.assign(error as Error, { path: target });
  // If a link leads to another folder, messages name the target's folder.
  const folder = path.resolve(path.dirname(target)) === path.dirname(file) ? path.dirname(target) : path.dirname(file);
  const places: Readonly<Record<string, string>> = {
    ENOENT: existsSync(folder) ? `files cannot be created in ${folder}` : `the folder ${folder} does not exist`,
    ENOTDIR: `${folder} is not a folder`,
  };
  return new UnwritableFileError(`cannot write ${target}: ${places[code] ?? systemErrorText(error)}`, { cause: error });
}

export function isDiskFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes((error as NodeJS.ErrnoException).code ?? "");
}

function replaceBy(
  target: string,
  file: string,
  temporary: string,
  handle: FileHandle,
  existing: Stats | null,
): FileReplacement {
  let renamed = false;
  const commit = async (syncsFolder: boolean): Promise<void> => {
    if (existing !== null) await keepOwnership(handle, existing);
    await handle.sync();
    await handle.close();
    await rename(temporary, file);
    renamed = true;
    if (syncsFolder) await syncFolder(path.dirname(file));
  };
  return {
    path: file,
    temporary,
    isWhole: true,
    write: (bytes) => withFileName(target, writeAll(handle, bytes)),
    commit: ({ syncsFolder } = { syncsFolder: true }) => withFileName(target, commit(syncsFolder)),
    async discard() {
      await handle.close();
      if (!renamed) await unlink(temporary).catch(ignoreMissing);
    },
  };
}

function writeDirectly(target: string, file: string, handle: FileHandle): FileReplacement {
  return {
    path: file,
    temporary: null,
    isWhole: false,
    write: (bytes) => withFileName(target, writeAll(handle, bytes)),
    commit: () => withFileName(target, handle.close()),
    discard: () => handle.close(),
  };
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    const { bytesWritten } = await handle.write(bytes, offset, bytes.length - offset);
    offset += bytesWritten;
  }
}

async function keepOwnership(handle: FileHandle, existing: Stats): Promise<void> {
  // Usually only root can change the owner, so failures are ignored.
  await handle.chown(existing.uid, existing.gid).catch(() => {});
  await handle.chmod(existing.mode & 0o7777);
}

export async function syncFolder(folder: string): Promise<void> {
  try {
    const handle = await open(folder, "r");
    try {
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    if (!["EISDIR", "EPERM", "EACCES", "EINVAL", "ENOTSUP"].includes((error as NodeJS.ErrnoException).code ?? ""))
      throw error;
  }
}

async function followLinks(target: string): Promise<string> {
  let file = path.resolve(target);
  for (let links = 0; links < LINKS_MAX; links += 1) {
    if (isDescriptor(file)) return file;
    const found = await lstat(file).catch(() => null);
    if (found === null || !found.isSymbolicLink()) return file;
    file = path.resolve(path.dirname(file), await readlink(file));
  }
  throw new UnwritableFileError(`cannot write ${target}: too many symbolic links`);
}

/** True for `/dev/stderr` and the shell's `>(…)`, which link to an open descriptor instead of a path. */
function isDescriptor(file: string): boolean {
  return /^\/(?:dev|proc\/[^/]+(?:\/task\/[^/]+)?)\/fd$/.test(path.dirname(file));
}

export function ignoreMissing(error: unknown): null {
  if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
  throw error;
}

export async function replaceFile(
  target: string,
  text: string | AsyncIterable<string>,
  token: string,
  { isAlone }: { readonly isAlone: boolean } = { isAlone: false },
): Promise<void> {
  const replacement = await openReplacement(target, token);
  try {
    if (isAlone) await removeLeftovers(replacement);
    for await (const chunk of typeof text === "string" ? [text] : text) await replacement.write(Buffer.from(chunk));
    await replacement.commit();
  } catch (error) {
    await replacement.discard();
    throw error;
  }
}

/** Errors from a file handle don't name the file. */
export async function withFileName<T>(file: string, written: Promise<T>): Promise<T> {
  return await written.catch((error: unknown) => {
    throw error instanceof Error ? Object.assign(error, { path: file }) : error;
  });
}

export function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/** Also true for two hard links, and for equal paths that don't exist yet. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(realPlace));
  if (first === second) return true;
  const [a, b] = await Promise.all([one, other].map((file) => stat(file).catch(() => null)));
  return a != null && b != null && a.dev === b.dev && a.ino === b.ino && a.isFile();
}

async function realPlace(file: string): Promise<string> {
  const target = await followLinks(file);
  return path.join(resolveFile(path.dirname(target)), path.basename(target));
}

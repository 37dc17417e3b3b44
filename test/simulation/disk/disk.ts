/**
 * A disk in memory, as a program sees one: what was not synced may be lost when the power goes, room ends, writes fail.
 * It stands in for the file system of the service and of SQLite's WebAssembly library, which both write through Node's
 * own functions; see `files.ts` and `promises.ts`.
 */
import { DiskFile } from "./disk-file.ts";

/** Folders and files of the simulated machine are below it; every other path is the real machine's, read only. */
export const DISK_ROOT = "/simulated";

interface NameChange {
  /** The folder whose sync makes the change durable. */
  readonly folder: string;
  readonly apply: (names: Map<string, DiskFile>) => void;
  /** The names that it concerns. */
  readonly paths: readonly string[];
  /** A file's own sync makes its name durable too. */
  readonly file: DiskFile | null;
}

export class DiskError extends Error {
  readonly code: string;

  constructor(code: string, what: string) {
    // A file that is not there is no surprise; a stack takes longer than all else.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${code}: ${what}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
  }
}

export interface DiskFaults {
  /** Bytes that all files together may have. */
  room: number;
  /** The write with this number, counted down, is the last thing that its process does; -1 for none. */
  writesUntilKill: number;
  /** So many writes fail with an error of the disk. */
  failingWrites: number;
  /** So many syncs fail. */
  failingSyncs: number;
}

export interface Descriptor {
  readonly file: DiskFile | null;
  readonly path: string;
  position: number;
}

const FULL_ROOM = 1024 ** 4;
const FIRST_INODE = 100;

export class Disk {
  readonly faults: DiskFaults = { room: FULL_ROOM, writesUntilKill: -1, failingWrites: 0, failingSyncs: 0 };
  /** The process that uses it is dead: whatever is still asked of it fails. */
  isDetached = false;
  names = new Map<string, DiskFile>();
  readonly folders = new Map<string, number>([[DISK_ROOT, 0o700]]);
  readonly descriptors = new Map<number, Descriptor>();
  readonly #now: () => number;
  readonly #onKill: () => void;
  #durableNames = new Map<string, DiskFile>();
  #changes: NameChange[] = [];
  #stamped = 0n;
  #nextDescriptor = 1000;
  #nextInode = FIRST_INODE;

  /** `now` is in Unix milliseconds; `onKill` is called when the write of `faults.writesUntilKill` comes. */
  constructor(now: () => number, onKill: () => void) {
    this.#now = now;
    this.#onKill = onKill;
  }

  /** Nanoseconds of a file's time, another with each write: by it programs see that a file was written to. */
  stamp(): bigint {
    const now = BigInt(this.#now()) * 1_000_000n;
    this.#stamped = now > this.#stamped ? now : this.#stamped + 1n;
    return this.#stamped;
  }

  /** Before everything that a process asks for. */
  attend(): void {
    if (this.isDetached) throw new DiskError("EIO", "the process is dead");
  }

  /** Before everything that changes the disk. */
  beginWrite(): void {
    this.attend();
    const { faults } = this;
    if (faults.writesUntilKill === 0) {
      faults.writesUntilKill = -1;
      this.isDetached = true;
      this.#onKill();
      throw new DiskError("EIO", "the process is dead");
    }
    if (faults.writesUntilKill > 0) faults.writesUntilKill -= 1;
    if (faults.failingWrites === 0) return;
    faults.failingWrites -= 1;
    throw new DiskError("EIO", "write error");
  }

  used(): number {
    let bytes = 0;
    for (const file of new Set(this.names.values())) bytes += file.size;
    return bytes;
  }

  find(path: string): DiskFile {
    const file = this.names.get(path);
    if (file === undefined) throw new DiskError("ENOENT", path);
    return file;
  }

  /** An empty file with a name that only the next sync makes durable. */
  create(path: string, mode: number): DiskFile {
    this.beginWrite();
    if (!this.folders.has(folderOf(path))) throw new DiskError("ENOENT", path);
    const file = new DiskFile(this.#nextInode, mode, this.stamp());
    this.#nextInode += 1;
    this.change([path], (names) => void names.set(path, file), file);
    return file;
  }

  change(paths: readonly string[], apply: NameChange["apply"], file: DiskFile | null = null): void {
    apply(this.names);
    this.#changes.push({ folder: folderOf(paths.at(-1) ?? ""), paths, apply, file });
  }

  open(file: DiskFile | null, path: string): number {
    this.#nextDescriptor += 1;
    this.descriptors.set(this.#nextDescriptor, { file, path, position: 0 });
    return this.#nextDescriptor;
  }

  descriptor(fd: number): Descriptor {
    const found = this.descriptors.get(fd);
    if (found === undefined) throw new DiskError("EBADF", String(fd));
    return found;
  }

  write(file: DiskFile, bytes: Uint8Array, position: number): void {
    this.beginWrite();
    const grown = position + bytes.length - file.size;
    if (grown > 0 && this.used() + grown > this.faults.room) throw new DiskError("ENOSPC", "no space left on device");
    file.write(bytes, position, this.stamp());
  }

  /** Of a file or a folder; both are what a descriptor may lead to. */
  sync({ file, path }: Descriptor): void {
    this.beginWrite();
    if (this.faults.failingSyncs > 0) {
      this.faults.failingSyncs -= 1;
      throw new DiskError("EIO", "sync error");
    }
    file?.sync();
    this.#keep((change) => (file === null ? change.folder === path : change.file === file));
  }

  /** The names and bytes that are there when the power comes back. */
  cutPower(fraction: () => number): void {
    const kept = Math.floor(fraction() * (this.#changes.length + 1));
    const survivors = new Set(this.#changes.slice(0, kept));
    this.#keep((change) => survivors.has(change));
    this.#changes = [];
    this.names = new Map(this.#durableNames);
    for (const file of new Set(this.names.values())) file.loseUnsynced(fraction);
    this.descriptors.clear();
  }

  /** A killed process has what it wrote written, and nothing open. */
  killProcess(): void {
    this.descriptors.clear();
  }

  /** What happened to the same names before is kept with it. */
  #keep(which: (change: NameChange) => boolean): void {
    const names = new Set<string>();
    const kept = new Set<NameChange>();
    for (const change of this.#changes.toReversed()) {
      if (!which(change) && !change.paths.some((path) => names.has(path))) continue;
      kept.add(change);
      for (const path of change.paths) names.add(path);
    }
    for (const change of this.#changes) if (kept.has(change)) change.apply(this.#durableNames);
    this.#changes = this.#changes.filter((change) => !kept.has(change));
  }
}

export function folderOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf("/")));
}

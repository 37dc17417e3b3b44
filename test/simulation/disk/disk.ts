/**
 * A disk in memory: a power cut can lose unsynced data, space can run out, and writes can fail. It replaces the file
 * system for the service and for SQLite's WebAssembly library; see `files.ts` and `promises.ts`.
 */
import { DiskFile } from "./disk-file.ts";

/** Paths below it are simulated; all others are read from the real machine. */
export const DISK_ROOT = "/simulated";

interface NameChange {
  /** The folder that must be synced to make the change durable. */
  readonly folder: string;
  readonly apply: (names: Map<string, DiskFile>) => void;
  readonly paths: readonly string[];
  /** Syncing the file also makes its name durable. */
  readonly file: DiskFile | null;
}

export class DiskError extends Error {
  readonly code: string;

  constructor(code: string, what: string) {
    // Missing files are common, and capturing a stack is slow.
    const { stackTraceLimit } = Error;
    Error.stackTraceLimit = 0;
    super(`${code}: ${what}`);
    Error.stackTraceLimit = stackTraceLimit;
    this.code = code;
  }
}

export interface DiskFaults {
  /** Capacity in bytes. */
  room: number;
  /** Counts down to the last write before the process dies; -1 disables it. */
  writesUntilKill: number;
  /** How many of the next writes fail. */
  failingWrites: number;
  /** How many of the next syncs fail. */
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
  /** Set when the process is dead: every call fails. */
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

  /** `now` is in Unix milliseconds. `onKill` is called when `faults.writesUntilKill` is reached. */
  constructor(now: () => number, onKill: () => void) {
    this.#now = now;
    this.#onKill = onKill;
  }

  /** A file time in nanoseconds, different after each write, so that programs notice changes. */
  stamp(): bigint {
    const now = BigInt(this.#now()) * 1_000_000n;
    this.#stamped = now > this.#stamped ? now : this.#stamped + 1n;
    return this.#stamped;
  }

  /** Called before every operation. */
  attend(): void {
    if (this.isDetached) throw new DiskError("EIO", "the process is dead");
  }

  /** Called before every change. */
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

  /** Creates an empty file. Its name is durable after the next sync. */
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

  /** Syncs a file or a folder. */
  sync({ file, path }: Descriptor): void {
    this.beginWrite();
    if (this.faults.failingSyncs > 0) {
      this.faults.failingSyncs -= 1;
      throw new DiskError("EIO", "sync error");
    }
    file?.sync();
    this.#keep((change) => (file === null ? change.folder === path : change.file === file));
  }

  /** Keeps the names and bytes that survive a power cut. */
  cutPower(fraction: () => number): void {
    const kept = Math.floor(fraction() * (this.#changes.length + 1));
    const survivors = new Set(this.#changes.slice(0, kept));
    this.#keep((change) => survivors.has(change));
    this.#changes = [];
    this.names = new Map(this.#durableNames);
    for (const file of new Set(this.names.values())) file.loseUnsynced(fraction);
    this.descriptors.clear();
  }

  /** Keeps everything written and closes all files. */
  killProcess(): void {
    this.descriptors.clear();
  }

  /** Earlier changes of the same names are kept too. */
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

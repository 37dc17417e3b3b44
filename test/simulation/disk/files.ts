/** Replaces `node:fs` in the bundle: the same functions on the simulated disk. */
import * as real from "node:fs";
import { DISK_ROOT, type Disk, DiskError, folderOf } from "./disk.ts";
import type { DiskFile } from "./disk-file.ts";
import { simulatedPath, theDisk } from "./mounted.ts";

export const { constants } = real;

type Flags = string | number;

const FLAGS: Readonly<Record<string, number>> = {
  r: constants.O_RDONLY,
  "r+": constants.O_RDWR,
  w: constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC,
  "w+": constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC,
  wx: constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL,
  "wx+": constants.O_RDWR | constants.O_CREAT | constants.O_EXCL,
  a: constants.O_WRONLY | constants.O_CREAT | constants.O_APPEND,
};

/** Throws ENOENT for paths of the real machine. */
function located(name: unknown): { readonly disk: Disk; readonly path: string } {
  const disk = theDisk();
  disk.attend();
  const path = simulatedPath(name);
  if (path === null) throw new DiskError("ENOENT", String(name));
  return { disk, path };
}

export function openSync(name: string, flags: Flags = "r", mode: number | null = 0o666): number {
  const { disk, path } = located(name);
  const bits = typeof flags === "number" ? flags : (FLAGS[flags] ?? constants.O_RDONLY);
  if (disk.folders.has(path)) return disk.open(null, path);
  const known = disk.names.get(path);
  if (known === undefined) {
    if ((bits & constants.O_CREAT) === 0) throw new DiskError("ENOENT", path);
    return disk.open(disk.create(path, mode ?? 0o666), path);
  }
  if ((bits & constants.O_EXCL) !== 0) throw new DiskError("EEXIST", path);
  if ((bits & constants.O_TRUNC) !== 0 && known.size > 0) truncate(disk, known, 0);
  return disk.open(known, path);
}

export function closeSync(fd: number): void {
  theDisk().descriptors.delete(fd);
}

function fileOf(fd: number): { readonly disk: Disk; readonly file: DiskFile } {
  const disk = theDisk();
  disk.attend();
  const { file } = disk.descriptor(fd);
  if (file === null) throw new DiskError("EISDIR", String(fd));
  return { disk, file };
}

export function readSync(
  fd: number,
  target: Uint8Array,
  offset = 0,
  length = target.length,
  position: number | bigint | null = null,
): number {
  const { disk, file } = fileOf(fd);
  const descriptor = disk.descriptor(fd);
  const at = position === null ? descriptor.position : Number(position);
  const count = file.read(target.subarray(offset, offset + length), at);
  if (position === null) descriptor.position += count;
  return count;
}

export function writeSync(
  fd: number,
  data: Uint8Array | string,
  offset = 0,
  length = data.length,
  position: number | bigint | null = null,
): number {
  const { disk, file } = fileOf(fd);
  const bytes = typeof data === "string" ? Buffer.from(data) : data.subarray(offset, offset + length);
  const descriptor = disk.descriptor(fd);
  const at = position === null ? descriptor.position : Number(position);
  disk.write(file, bytes, at);
  if (position === null) descriptor.position += bytes.length;
  return bytes.length;
}

export function fsyncSync(fd: number): void {
  const disk = theDisk();
  disk.attend();
  disk.sync(disk.descriptor(fd));
}

export const fdatasyncSync = fsyncSync;

function truncate(disk: Disk, file: DiskFile, size: number): void {
  disk.beginWrite();
  file.truncate(size, disk.stamp());
}

export function ftruncateSync(fd: number, size: number | bigint = 0): void {
  const { disk, file } = fileOf(fd);
  truncate(disk, file, Number(size));
}

interface StatOptions {
  readonly bigint?: boolean;
  readonly throwIfNoEntry?: boolean;
}

/** Calling it each time dominated the run time. */
const USER = process.getuid?.() ?? 0;

function statOf(file: DiskFile | null, mode: number, isBig: boolean): object {
  const number = isBig ? BigInt : Number;
  const modifiedNs = file?.modifiedNs ?? 0n;
  const isFile = file !== null;
  return {
    ino: number(file?.ino ?? 1),
    dev: number(1),
    size: number(file?.size ?? 0),
    mode: number(isFile ? 0o100_000 | file.mode : 0o040_000 | mode),
    uid: number(USER),
    gid: number(USER),
    nlink: number(file?.links ?? 1),
    mtimeMs: number(modifiedNs / 1_000_000n),
    mtimeNs: modifiedNs,
    isFile: () => isFile,
    isDirectory: () => !isFile,
    isSymbolicLink: () => false,
    isFIFO: () => false,
    isSocket: () => false,
    isCharacterDevice: () => false,
    isBlockDevice: () => false,
  };
}

export function statSync(
  name: string,
  { bigint = false, throwIfNoEntry = true }: StatOptions = {},
): object | undefined {
  const { disk, path } = located(name);
  const mode = disk.folders.get(path);
  const file = disk.names.get(path) ?? null;
  if (file !== null || mode !== undefined) return statOf(file, mode ?? 0, bigint);
  if (throwIfNoEntry) throw new DiskError("ENOENT", path);
  return undefined;
}

export const lstatSync = statSync;

export function fstatSync(fd: number, { bigint = false }: StatOptions = {}): object {
  const disk = theDisk();
  disk.attend();
  return statOf(disk.descriptor(fd).file, 0o700, bigint);
}

export function existsSync(name: string): boolean {
  const path = simulatedPath(name);
  const disk = theDisk();
  return path !== null && !disk.isDetached && (disk.names.has(path) || disk.folders.has(path));
}

export function accessSync(name: string): void {
  if (!existsSync(name)) throw new DiskError("ENOENT", name);
}

export function realpathSync(name: string): string {
  const { disk, path } = located(name);
  if (!disk.names.has(path) && !disk.folders.has(path)) throw new DiskError("ENOENT", path);
  return path;
}

export function statfsSync(): { readonly bsize: number; readonly bavail: number } {
  const disk = theDisk();
  return { bsize: 1, bavail: Math.max(0, disk.faults.room - disk.used()) };
}

export function mkdirSync(name: string, options: { readonly mode?: number; readonly recursive?: boolean } = {}): void {
  const { disk, path } = located(name);
  if (disk.folders.has(path) || disk.names.has(path)) {
    if (options.recursive === true) return;
    throw new DiskError("EEXIST", path);
  }
  if (path !== DISK_ROOT && !disk.folders.has(folderOf(path))) throw new DiskError("ENOENT", path);
  disk.folders.set(path, options.mode ?? 0o777);
}

export function rmdirSync(name: string): void {
  const { disk, path } = located(name);
  if (!disk.folders.delete(path)) throw new DiskError("ENOENT", path);
}

export function unlinkSync(name: string): void {
  const { disk, path } = located(name);
  disk.find(path).links -= 1;
  disk.beginWrite();
  disk.change([path], (names) => void names.delete(path));
}

export function rmSync(name: string, options: { readonly force?: boolean; readonly recursive?: boolean } = {}): void {
  const { disk, path } = located(name);
  if (disk.folders.has(path)) {
    for (const inside of readdirSync(path)) rmSync(`${path}/${inside}`, options);
    rmdirSync(path);
  } else if (disk.names.has(path)) unlinkSync(path);
  else if (options.force !== true) throw new DiskError("ENOENT", path);
}

export function renameSync(from: string, to: string): void {
  const { disk, path } = located(from);
  const target = located(to).path;
  const file = disk.find(path);
  disk.beginWrite();
  const change = (names: Map<string, DiskFile>): void => {
    names.delete(path);
    names.set(target, file);
  };
  disk.change([path, target], change);
}

export function linkSync(from: string, to: string): void {
  const { disk, path } = located(from);
  const target = located(to).path;
  const file = disk.find(path);
  if (disk.names.has(target)) throw new DiskError("EEXIST", target);
  disk.beginWrite();
  file.links += 1;
  disk.change([target], (names) => void names.set(target, file));
}

export function readdirSync(name: string): string[] {
  const { disk, path } = located(name);
  if (!disk.folders.has(path)) throw new DiskError("ENOENT", path);
  const inside = [...disk.names.keys(), ...disk.folders.keys()].filter((one) => folderOf(one) === path && one !== path);
  return inside.map((one) => one.slice(path.length + 1)).toSorted();
}

type Encoding = BufferEncoding | { readonly encoding?: BufferEncoding | null } | null;

/** The library reads its own files from the real machine. */
export function readFileSync(name: string, encoding: Encoding = null): Buffer | string {
  const path = simulatedPath(name);
  const as = typeof encoding === "string" ? encoding : (encoding?.encoding ?? null);
  if (path === null) return real.readFileSync(name, as);
  const bytes = located(name).disk.find(path).content();
  return as === null ? bytes : bytes.toString(as);
}

export function writeFileSync(name: string, data: Uint8Array | string): void {
  const fd = openSync(name, "w");
  writeSync(fd, data);
  closeSync(fd);
}

export function chmodSync(name: string, mode: number): void {
  const { disk, path } = located(name);
  if (disk.folders.has(path)) disk.folders.set(path, mode);
  else disk.find(path).mode = mode;
}

export function utimesSync(name: string): void {
  const { disk, path } = located(name);
  disk.find(path).modifiedNs = disk.stamp();
}

type ReadCallback = (error: unknown, count: number, target: Uint8Array) => void;

/** Has a callback, as `promisify` requires. */
export function read(
  fd: number,
  target: Uint8Array,
  offset: number,
  length: number,
  position: number,
  done: ReadCallback,
): void {
  try {
    done(null, readSync(fd, target, offset, length, position), target);
  } catch (error) {
    done(error, 0, target);
  }
}

/** Node's own `read` resolves to an object with both values. */
Object.defineProperty(read, Symbol.for("nodejs.util.promisify.custom"), {
  value: async (fd: number, target: Uint8Array, offset: number, length: number, position: number) => ({
    bytesRead: readSync(fd, target, offset, length, position),
    buffer: target,
  }),
});

/** Only commands use streams, and the simulation runs none of those. */
export function createReadStream(name: string): never {
  throw new DiskError("ENOSYS", name);
}

export default {
  constants,
  openSync,
  closeSync,
  readSync,
  writeSync,
  fsyncSync,
  ftruncateSync,
  fstatSync,
  statSync,
  accessSync,
  unlinkSync,
  mkdirSync,
  rmdirSync,
  readFileSync,
  existsSync,
};

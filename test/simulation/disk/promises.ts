/** Replaces `node:fs/promises`. Operations finish immediately, except syncs, during which other work continues. */
import {
  accessSync,
  chmodSync,
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "./files.ts";
import { DiskError } from "./disk.ts";
import { takeTime, theDisk } from "./mounted.ts";

/** Wraps a synchronous function in a promise. */
function later<Args extends readonly unknown[], Result>(work: (...args: Args) => Result) {
  return async (...args: Args): Promise<Result> => work(...args);
}

export const access = later(accessSync);
export const chmod = later(chmodSync);
export const link = later(linkSync);
export const lstat = later(lstatSync);
export const mkdir = later(mkdirSync);
export const readdir = later(readdirSync);
export const readFile = later(readFileSync);
export const realpath = later(realpathSync);
export const rename = later(renameSync);
export const rm = later(rmSync);
export const stat = later(statSync);
export const unlink = later(unlinkSync);
export const utimes = later(utimesSync);
export const writeFile = later(writeFileSync);

export const readlink = async (name: string): Promise<string> => {
  throw new DiskError("EINVAL", name);
};

export const copyFile = async (from: string, to: string): Promise<void> => {
  writeFileSync(to, readFileSync(from));
};

type HandleFlags = Parameters<typeof openSync>[1];

export async function open(name: string, flags: HandleFlags = "r", mode?: number): Promise<object> {
  const fd = openSync(name, flags, mode);
  const sync = async (): Promise<void> => {
    await takeTime();
    fsyncSync(fd);
  };
  return {
    fd,
    sync,
    datasync: sync,
    close: later(() => closeSync(fd)),
    stat: later((options?: { readonly bigint?: boolean }) => fstatSync(fd, options)),
    truncate: later((size: number) => ftruncateSync(fd, size)),
    chmod: later((bits: number) => chmodSync(theDisk().descriptor(fd).path, bits)),
    chown: later(() => undefined),
    utimes: later(() => undefined),
    read: async (target: Uint8Array, offset?: number, length?: number, position?: number | null) => ({
      bytesRead: readSync(fd, target, offset, length, position),
      buffer: target,
    }),
    write: async (data: Uint8Array | string, offset?: number, length?: number, position?: number | null) => ({
      bytesWritten: writeSync(fd, data, offset, length, position),
      buffer: data,
    }),
    writeFile: later((data: Uint8Array | string) => void writeSync(fd, data)),
    readFile: later((encoding?: BufferEncoding) => {
      const bytes = theDisk().descriptor(fd).file?.content() ?? Buffer.alloc(0);
      return encoding === undefined ? bytes : bytes.toString(encoding);
    }),
  };
}

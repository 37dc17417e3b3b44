/**
 * The input of an import, opened once: hashed while it is checked, and read afterwards only while it is that very
 * file.
 */
import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { stat, type FileHandle } from "node:fs/promises";

/** The change that would fix an input; the command line describes it in terms of its flags. */
export type InputFix =
  | { readonly kind: "map"; readonly columns: readonly { readonly header: string; readonly field: string }[] }
  | { readonly kind: "ignore"; readonly header: string }
  | { readonly kind: "encoding"; readonly encoding: string };

/** The input cannot be read as a table at all, or its header cannot be used; nothing was sent. */
export class InputError extends Error {
  override readonly name = "InputError";
  readonly hint: string | null;
  readonly fix: InputFix | null;

  constructor(
    message: string,
    options: { readonly hint?: string; readonly fix?: InputFix; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.hint = options.hint ?? null;
    this.fix = options.fix ?? null;
  }
}

/** The file is sound and has no rows, as one of a nightly job may. */
export class NoRowsError extends InputError {}

/** The file is no longer the one that was opened and checked. */
export class InputChangedError extends Error {
  override readonly name = "InputChangedError";
  readonly file: string;

  constructor(file: string) {
    super(`${file} has changed since it was checked`);
    this.file = file;
  }
}

export interface InputFile {
  /** As messages call it: the name that was given, or `standard input`. */
  readonly name: string;
  /** Null: found by looking at the first record. */
  readonly delimiter: string | null;
  /** The name of the encoding; null: UTF-8, or UTF-16 with a byte order mark. */
  readonly encoding: string | null;
  /** SHA-256 of all bytes, hexadecimal, once they have been read to the end; null before. */
  readonly sha256: string | null;
  /**
   * All bytes from the first on, in chunks that belong to the caller. After the first complete pass never a byte more
   * than that pass saw. Throws InputChangedError, or the system's error.
   */
  bytes(): AsyncGenerator<Uint8Array>;
  /**
   * Throws InputChangedError when size, time or inode differ from those at the opening, or the name now leads to
   * another file.
   */
  verify(): Promise<void>;
  close(): Promise<void>;
}

export interface InputFacts {
  readonly name: string;
  readonly delimiter: string | null;
  readonly encoding?: string | null;
  /** Null for a file without a name, which no other program can change. */
  readonly path: string | null;
  readonly onClose?: () => Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/** Takes the handle over; `close` closes it. */
export async function openInputFile(handle: FileHandle, facts: InputFacts): Promise<InputFile> {
  const { name, delimiter, encoding = null, path, onClose } = facts;
  const opened = await handle.stat({ bigint: true });
  let checked: { readonly sha256: string; readonly length: number } | null = null;

  async function verify(): Promise<void> {
    const now = await (path === null ? handle.stat({ bigint: true }) : stat(path, { bigint: true }).catch(() => null));
    if (now === null || !isSame(opened, now)) throw new InputChangedError(name);
  }

  return {
    name,
    delimiter,
    encoding,
    get sha256() {
      return checked?.sha256 ?? null;
    },
    verify,
    async *bytes() {
      const end = checked?.length ?? Number.POSITIVE_INFINITY;
      const hash = checked === null ? createHash("sha256") : null;
      let position = 0;
      while (position < end) {
        if (hash === null) await verify();
        const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, end - position));
        const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
        if (bytesRead === 0) break;
        position += bytesRead;
        hash?.update(chunk.subarray(0, bytesRead));
        yield chunk.subarray(0, bytesRead);
      }
      await verify();
      if (hash === null && position < end) throw new InputChangedError(name);
      if (hash !== null) checked = { sha256: hash.digest("hex"), length: position };
    },
    async close() {
      await handle.close();
      await onClose?.();
    },
  };
}

function isSame(before: BigIntStats, now: BigIntStats): boolean {
  return before.dev === now.dev && before.ino === now.ino && before.size === now.size && before.mtimeNs === now.mtimeNs;
}

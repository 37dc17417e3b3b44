import { createHash } from "node:crypto";
import type { BigIntStats } from "node:fs";
import { stat, type FileHandle } from "node:fs/promises";

export type InputFix =
  | { readonly kind: "map"; readonly columns: readonly { readonly header: string; readonly field: string }[] }
  | { readonly kind: "ignore"; readonly header: string }
  | { readonly kind: "encoding"; readonly encoding: string };

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

/** The file is valid but has no rows, which is normal for a nightly job. */
export class NoRowsError extends InputError {}

export class InputChangedError extends Error {
  override readonly name = "InputChangedError";
  readonly file: string;

  constructor(file: string) {
    super(`${file} has changed since it was checked`);
    this.file = file;
  }
}

export interface InputFile {
  readonly name: string;
  /** If null, the delimiter is detected from the first record. */
  readonly delimiter: string | null;
  /** If null, UTF-8 is assumed, or UTF-16 if there is a byte order mark. */
  readonly encoding: string | null;
  /** Hex SHA-256 of the file; null until it has been read to the end. */
  readonly sha256: string | null;
  /**
   * Later passes never return more bytes than the first complete one. Throws InputChangedError or the system's error.
   */
  bytes(): AsyncGenerator<Uint8Array>;
  /** Throws InputChangedError if the file was changed or replaced. */
  verify(): Promise<void>;
  close(): Promise<void>;
}

export interface InputFacts {
  readonly name: string;
  readonly delimiter: string | null;
  readonly encoding?: string | null;
  /** Null for an unnamed file, which no other program can change. */
  readonly path: string | null;
  readonly onClose?: () => Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;

/** Takes ownership of the handle, which `close` closes. */
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

import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { createTextSink, type SinkTotals, type TextSink } from "../../bulk/export/byte-sink.ts";
import {
  isDiskFull,
  lockName,
  openReplacement,
  removeLeftovers,
  replaceFile,
  UnwritableFileError,
  type FileReplacement,
} from "../../runtime/files/file-replacement.ts";
import { LockedError, takeLock, type Lock } from "../../runtime/files/lock-file.ts";
import type { Deps } from "../kit/deps.ts";
import { watchLock } from "../kit/notes.ts";
import { UsageError } from "../errors/usage-error.ts";
import { toSafeLines } from "../render/safe-text.ts";
import type { ExportPlan } from "./plan.ts";
import type { ExportFlags } from "./request.ts";

export interface ExportOutput {
  readonly sink: TextSink;
  /** Symbolic links are resolved; null for stdout. */
  readonly path: string | null;
  readonly oldBytes: number;
  keepOld(bytes: number): Promise<void>;
  close(): Promise<SinkTotals>;
  commit(written: SinkTotals): Promise<void>;
  discard(): Promise<void>;
}

type Target = Pick<ExportPlan, "file" | "gzip"> & Pick<ExportFlags, "checksum">;

export async function openOutput(deps: Deps, target: Target): Promise<ExportOutput> {
  if (target.file === null) return openStdout(deps, target.gzip);
  const replacement = await open(deps, target.file);
  let lock: Lock | null = null;
  try {
    const checksum = target.checksum ? await openChecksum(deps, target.file, replacement) : null;
    if (replacement.isWhole)
      lock = await lockFile(deps, lockName(replacement.path), { file: target.file, flag: "--out" });
    if (lock !== null) await removeLeftovers(replacement);
    return await openFile(target, { replacement, checksum, lock }, deps.options.excel);
  } catch (error) {
    await replacement.discard();
    await lock?.release();
    throw error;
  }
}

export async function lockFile(
  deps: Deps,
  lock: string,
  { file, flag }: { readonly file: string; readonly flag: string },
): Promise<Lock> {
  try {
    return await takeLock(lock, deps.random.token(6), watchLock(deps));
  } catch (error) {
    if (error instanceof LockedError) {
      const hint = `if no other run is in progress, delete ${error.file}`;
      throw new UsageError(`${flag}: ${error.message}`, { hint, cause: error });
    }
    if (isDiskFull(error)) throw Object.assign(error as Error, { path: file });
    throw new UsageError(`${flag}: cannot write ${file}: ${(error as Error).message}`, { cause: error });
  }
}

function openStdout({ streams: { out } }: Deps, gzip: boolean): ExportOutput {
  const write = (bytes: Uint8Array): Promise<void> =>
    out.write(out.isTTY ? toSafeLines(Buffer.from(bytes).toString()) : bytes);
  const sink = createTextSink({ gzip, write });
  return {
    sink,
    path: null,
    oldBytes: 0,
    keepOld: async () => {},
    close: () => sink.end(),
    commit: async () => {},
    discard: async () => sink.destroy(),
  };
}

/** Opens the file early, to find out whether it can be written. */
async function openChecksum(deps: Deps, file: string, { isWhole }: FileReplacement): Promise<FileReplacement> {
  if (!isWhole) throw new UsageError(`--checksum: ${file} is not a regular file, so it cannot have a checksum`);
  return open(deps, `${file}.sha256`);
}

interface OpenedFiles {
  readonly replacement: FileReplacement;
  readonly checksum: FileReplacement | null;
  readonly lock: Lock | null;
}

async function openFile(
  { file, gzip }: Target,
  { replacement, checksum, lock }: OpenedFiles,
  excel: boolean,
): Promise<ExportOutput> {
  const oldBytes = await stat(replacement.path).then(
    (found) => (found.isFile() ? found.size : 0),
    () => 0,
  );
  const sink = createTextSink({ gzip, write: (bytes) => replacement.write(bytes) });
  return {
    sink,
    path: replacement.path,
    oldBytes,
    keepOld: (bytes) => keepOldBytes(sink, replacement.path, { bytes, lineEnd: gzip ? "" : excel ? "\r\n" : "\n" }),
    close: () => sink.end(),
    async commit({ sha256 }) {
      await replacement.commit();
      // The line format of `sha256sum --check`.
      await checksum?.write(Buffer.from(`${sha256}  ${path.basename(file ?? "")}\n`));
      await checksum?.commit();
    },
    async discard() {
      sink.destroy();
      await replacement.discard();
      await checksum?.discard();
      await lock?.release();
    },
  };
}

export async function tryPlace(deps: Deps, file: string): Promise<void> {
  await (await open(deps, file)).discard();
}

/** Writes the file atomically, with mode 0600. The caller must hold the lock. */
export function writeSmallFile({ random }: Deps, file: string, text: string): Promise<void> {
  return asUsage(replaceFile(file, text, random.token(6), { isAlone: true }));
}

function open({ random, signal }: Deps, file: string): Promise<FileReplacement> {
  return asUsage(openReplacement(file, random.token(6), signal));
}

async function asUsage<Result>(work: Promise<Result>): Promise<Result> {
  return await work.catch((error: unknown) => {
    throw error instanceof UnwritableFileError ? new UsageError(error.message, { cause: error }) : error;
  });
}

const LINE_FEED = 10;

/** A file typed by hand may lack a line break at the end. */
async function keepOldBytes(
  sink: TextSink,
  file: string,
  { bytes, lineEnd }: { readonly bytes: number; readonly lineEnd: string },
): Promise<void> {
  let last: number | undefined = LINE_FEED;
  for await (const chunk of readStart(file, bytes)) {
    await sink.keep(chunk);
    last = chunk.at(-1);
  }
  if (last !== LINE_FEED && lineEnd !== "") await sink.write(lineEnd);
}

export async function digestOldBytes(file: string, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of readStart(file, bytes)) hash.update(chunk);
  return hash.digest("hex");
}

async function* readStart(file: string, bytes: number): AsyncGenerator<Uint8Array> {
  if (bytes > 0) yield* createReadStream(file, { end: bytes - 1 }) as AsyncIterable<Uint8Array>;
}

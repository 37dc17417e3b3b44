/** Where an export goes: stdout, or a file that is replaced as a whole. */
import { stat } from "node:fs/promises";
import path from "node:path";
import { createTextSink, type SinkTotals, type TextSink } from "../../bulk/export/byte-sink.ts";
import { openReplacement, UnwritableFileError, type FileReplacement } from "../../runtime/file-replacement.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";
import { toSafeLines } from "../render/safe-text.ts";
import type { ExportPlan } from "./plan.ts";
import type { ExportFlags } from "./request.ts";
import { keepOldBytes } from "./old-file.ts";

export interface ExportOutput {
  readonly sink: TextSink;
  /** The file that is replaced, behind its links; null for stdout. */
  readonly path: string | null;
  /** Bytes that the file holds now; 0 when there is none. */
  readonly oldBytes: number;
  /** Begins with this many bytes of the file as it is. */
  keepOld(bytes: number): Promise<void>;
  /** Makes it the file, durably, and its checksum with it. */
  commit(): Promise<SinkTotals>;
  /** Leaves the old file as it is; harmless after `commit`. */
  discard(): Promise<void>;
}

type Target = Pick<ExportPlan, "file" | "gzip"> & Pick<ExportFlags, "checksum" | "crlf">;

/** Throws `UsageError` when the target or its checksum cannot be written. */
export async function openOutput(deps: Deps, target: Target): Promise<ExportOutput> {
  if (target.file === null) return openStdout(deps, target.gzip);
  const replacement = await open(deps, target.file);
  try {
    const checksum = target.checksum ? await openChecksum(deps, target.file, replacement) : null;
    return await openFile(target, replacement, checksum);
  } catch (error) {
    await replacement.discard();
    throw error;
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
    commit: () => sink.end(),
    discard: async () => sink.destroy(),
  };
}

/** Opened with the file, so that a run which cannot write it ends before it begins. */
async function openChecksum(deps: Deps, file: string, { isWhole }: FileReplacement): Promise<FileReplacement> {
  if (!isWhole) throw new UsageError(`--checksum: ${file} is no file that a checksum could stand beside`);
  return open(deps, `${file}.sha256`);
}

async function openFile(
  target: Target,
  replacement: FileReplacement,
  checksum: FileReplacement | null,
): Promise<ExportOutput> {
  const { file, gzip, crlf } = target;
  const oldBytes = await stat(replacement.path).then(
    (found) => (found.isFile() ? found.size : 0),
    () => 0,
  );
  const sink = createTextSink({ gzip, write: (bytes) => replacement.write(bytes) });
  return {
    sink,
    path: replacement.path,
    oldBytes,
    keepOld: (bytes) => keepOldBytes(sink, replacement.path, { bytes, lineEnd: gzip ? "" : crlf ? "\r\n" : "\n" }),
    async commit() {
      const totals = await sink.end();
      await replacement.commit();
      // In the form that `sha256sum --check` reads.
      await checksum?.write(Buffer.from(`${totals.sha256}  ${path.basename(file ?? "")}\n`));
      await checksum?.commit();
      return totals;
    },
    async discard() {
      sink.destroy();
      await replacement.discard();
      await checksum?.discard();
    },
  };
}

/** Writes a small file whole, mode 0600. */
export async function writeWhole(deps: Deps, file: string, text: string): Promise<void> {
  const replacement = await open(deps, file);
  try {
    await replacement.write(Buffer.from(text));
    await replacement.commit();
  } finally {
    await replacement.discard();
  }
}

async function open({ random, signal }: Deps, file: string): Promise<FileReplacement> {
  try {
    return await openReplacement(file, random.token(6), signal);
  } catch (error) {
    if (error instanceof UnwritableFileError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

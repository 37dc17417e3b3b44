/** Where an export goes: stdout, or a file that is replaced as a whole. */
import { createReadStream } from "node:fs";
import { stat } from "node:fs/promises";
import { createTextSink, type SinkTotals, type TextSink } from "../../../bulk/export/byte-sink.ts";
import { openReplacement, replaceFile, UnwritableFileError } from "../../../runtime/file-replacement.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { toSafeLines } from "../../render/safe-text.ts";
import type { ExportPlan } from "./export-plan.ts";

export interface ExportOutput {
  readonly sink: TextSink;
  /** Bytes that the file holds now; 0 when there is none. */
  readonly oldBytes: number;
  /** Begins with this many bytes of the file as it is. */
  keepOld(bytes: number): Promise<void>;
  /** Makes it the file, durably. */
  commit(): Promise<SinkTotals>;
  /** Leaves the old file as it is; harmless after `commit`. */
  discard(): Promise<void>;
}

/** Throws `UsageError` when the target cannot be written. */
export async function openOutput(deps: Deps, { file, gzip }: Pick<ExportPlan, "file" | "gzip">): Promise<ExportOutput> {
  return file === null ? openStdout(deps, gzip) : openFile(file, gzip, deps.random.token(6));
}

function openStdout({ streams: { out } }: Deps, gzip: boolean): ExportOutput {
  const write = (bytes: Uint8Array): Promise<void> => out.write(out.isTTY ? toSafeLines(Buffer.from(bytes).toString()) : bytes);
  const sink = createTextSink({ gzip, write });
  return { sink, oldBytes: 0, keepOld: async () => {}, commit: () => sink.end(), discard: async () => sink.destroy() };
}

async function openFile(file: string, gzip: boolean, token: string): Promise<ExportOutput> {
  const replacement = await asUsage(() => openReplacement(file, token));
  const oldBytes = await stat(replacement.path).then(
    (found) => (found.isFile() ? found.size : 0),
    () => 0,
  );
  const sink = createTextSink({ gzip, write: (bytes) => replacement.write(bytes) });
  return {
    sink,
    oldBytes,
    async keepOld(bytes) {
      if (bytes === 0) return;
      for await (const chunk of createReadStream(replacement.path, { end: bytes - 1 })) await sink.keep(chunk as Uint8Array);
    },
    async commit() {
      const totals = await sink.end();
      await replacement.commit();
      return totals;
    },
    async discard() {
      sink.destroy();
      await replacement.discard();
    },
  };
}

/** Writes a small file whole, mode 0600 when it is new. Throws `UsageError` when it cannot be written. */
export async function writeWhole(file: string, text: string, token: string): Promise<void> {
  await asUsage(() => replaceFile(file, text, token));
}

async function asUsage<Result>(work: () => Promise<Result>): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof UnwritableFileError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

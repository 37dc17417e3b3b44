import { open, unlink, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { TEMPORARY_SUFFIX } from "./file-replacement.ts";

/** Lines put aside on disk. Where the system allows it the file has no name, so that not even kill -9 leaves it behind. */
export interface ScratchFile {
  /** Adds whole lines, each with its line feed. */
  write(lines: Uint8Array): Promise<void>;
  /** Every line from the first on; nothing may be written any more. */
  lines(): AsyncIterable<string>;
  close(): Promise<void>;
}

const PIECE_BYTES = 256 * 1024;
const FILE_MODE = 0o600;

export async function openScratchFile(folder: string, token: string): Promise<ScratchFile> {
  const name = path.join(folder, `surveyctl.${token}${TEMPORARY_SUFFIX}`);
  const handle = await open(name, "wx+", FILE_MODE);
  const unlinked = await unlink(name).then(
    () => true,
    () => false,
  );
  return {
    write: (lines) => handle.writeFile(lines),
    lines: () => readLines(handle),
    async close() {
      await handle.close();
      if (!unlinked) await unlink(name).catch(() => {});
    },
  };
}

async function* readLines(handle: FileHandle): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  const buffer = new Uint8Array(PIECE_BYTES);
  let rest = "";
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(buffer, 0, buffer.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    const lines = (rest + decoder.decode(buffer.subarray(0, bytesRead), { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
}

import { open, unlink, type FileHandle } from "node:fs/promises";
import path from "node:path";
import { TEMPORARY_SUFFIX } from "./file-replacement.ts";

/**
 * Lines put aside on disk. Where the system allows it the file has no name, so that not even kill -9 leaves it behind.
 */
export interface ScratchFile {
  /** Adds whole lines, each with its line feed. */
  write(lines: Uint8Array): Promise<void>;
  /** Every line from the first on; nothing may be written any more. */
  lines(): AsyncIterable<string>;
  close(): Promise<void>;
}

const CHUNK_BYTES = 64 * 1024;
const FILE_MODE = 0o600;
const LINE_FEED = 10;

/** In `folder`; `token` makes its name unique. Throws the system's error. */
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

/** Cut as bytes, so that no text is longer than a line. */
async function* readLines(handle: FileHandle): AsyncGenerator<string> {
  const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
  let begun: Buffer[] = [];
  for (let position = 0; ;) {
    const { bytesRead } = await handle.read(chunk, 0, chunk.length, position);
    if (bytesRead === 0) return;
    position += bytesRead;
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0 && end < bytesRead; end = chunk.indexOf(LINE_FEED, start)) {
      yield Buffer.concat([...begun, chunk.subarray(start, end)]).toString();
      begun = [];
      start = end + 1;
    }
    // Copied, since the chunk is read into again.
    begun.push(Buffer.from(chunk.subarray(start, bytesRead)));
  }
}

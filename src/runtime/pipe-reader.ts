import { constants } from "node:fs";
import { open } from "node:fs/promises";
import { systemClock } from "./clock.ts";
import { specialKind } from "./files/file-kind.ts";

/** The message doesn't name the file: "it is a device, not a file". */
export class UnreadableFileError extends Error {
  override readonly name = "UnreadableFileError";
  readonly file: string;

  constructor(file: string, message: string) {
    super(message);
    this.file = file;
  }
}

const CHUNK_BYTES = 64 * 1024;
const POLL_MAX_MS = 16;

/**
 * Reads a regular file, or a pipe with a writer, such as a shell's `<(…)`. Throws UnreadableFileError, the signal's
 * reason or the system's error.
 */
export async function* readChunks(file: string, signal?: AbortSignal): AsyncGenerator<Uint8Array> {
  signal?.throwIfAborted();
  // Opening a pipe without O_NONBLOCK would wait for a writer, and no signal could interrupt that.
  const handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const found = await handle.stat();
    if (!found.isFile() && !found.isFIFO())
      throw new UnreadableFileError(file, `it is ${specialKind(found)}, not a file`);
    let mayLackWriter = found.isFIFO();
    for (let waitMs = 1; ;) {
      signal?.throwIfAborted();
      const bytes = Buffer.alloc(CHUNK_BYTES);
      const count = await handle.read(bytes).then(({ bytesRead }) => bytesRead, nullWhileEmpty);
      if (count === 0 && mayLackWriter) throw new UnreadableFileError(file, "it is a pipe that nothing writes to");
      if (count === 0) return;
      mayLackWriter = false;
      if (count === null) await systemClock.sleep(waitMs, signal);
      else yield bytes.subarray(0, count);
      waitMs = count === null ? Math.min(waitMs * 2, POLL_MAX_MS) : 1;
    }
  } finally {
    await handle.close();
  }
}

/** Null for a pipe whose writer hasn't written more yet. */
function nullWhileEmpty(error: NodeJS.ErrnoException): null {
  if (error.code === "EAGAIN") return null;
  throw error;
}

export async function readAtMost(source: AsyncIterable<Uint8Array>, maxBytes: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of source) {
    size += chunk.byteLength;
    if (size > maxBytes) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

export const GIVEN_FILE_MAX = 1024 * 1024;

export async function readGivenFile(file: string, maxBytes = GIVEN_FILE_MAX): Promise<Buffer> {
  const bytes = await readAtMost(readChunks(file), maxBytes);
  if (bytes === null) throw new UnreadableFileError(file, tooLarge(maxBytes));
  return bytes;
}

export function tooLarge(maxBytes: number): string {
  return `it is larger than ${maxBytes / 1024 / 1024} MiB`;
}

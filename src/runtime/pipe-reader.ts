/** Bytes that come chunk by chunk: read to the end as one text, or from a named pipe in a way that a signal can end. */
import { constants, createReadStream, type ReadStream } from "node:fs";
import { open, stat } from "node:fs/promises";
import { nextTurn } from "./clock.ts";
import { onAbort } from "./on-abort.ts";

/** The bytes as they come. Throws the signal's reason when it is aborted, or the system's error. */
export async function* readPipe(file: string, signal: AbortSignal): AsyncGenerator<Uint8Array> {
  signal.throwIfAborted();
  const stream = createReadStream(file);
  const release = onAbort(signal, () => {
    stream.destroy(signal.reason as Error);
    void letGo(file, stream).catch(() => undefined);
  });
  try {
    yield* stream as AsyncIterable<Uint8Array>;
  } finally {
    release();
  }
}

/**
 * To open a pipe waits for its writer, and to read from it for what the writer says; a stream cannot be closed before.
 * A writer of our own ends both, and what it says is read by nobody.
 */
async function letGo(file: string, stream: ReadStream): Promise<void> {
  if (!(await stat(file)).isFIFO()) return;
  for (let isTold = false; !isTold && !stream.closed;) {
    isTold = await writeByte(file);
    await nextTurn();
  }
}

/** False while nobody has the pipe open for reading. */
async function writeByte(file: string): Promise<boolean> {
  const handle = await open(file, constants.O_WRONLY | constants.O_NONBLOCK).catch(nullWithoutReader);
  if (handle === null) return false;
  try {
    await handle.write("\n");
  } finally {
    await handle.close();
  }
  return true;
}

function nullWithoutReader(error: NodeJS.ErrnoException): null {
  if (error.code === "ENXIO") return null;
  throw error;
}

/** All of a source. */
export async function readAll(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  return (await readAtMost(source, Infinity)) ?? Buffer.alloc(0);
}

/** All of a source; null as soon as it is longer than `maxBytes`, and the rest is not read. */
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

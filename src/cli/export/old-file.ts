/** The file that `--append` adds to. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import type { TextSink } from "../../bulk/export/byte-sink.ts";

const LINE_FEED = 10;

/** Passes its first bytes on, and `lineEnd` where they end within a line, as a text that somebody typed may. */
export async function keepOldBytes(
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

/** SHA-256 of its first bytes, in hex. */
export async function digestOldBytes(file: string, bytes: number): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of readStart(file, bytes)) hash.update(chunk);
  return hash.digest("hex");
}

async function* readStart(file: string, bytes: number): AsyncGenerator<Uint8Array> {
  if (bytes > 0) yield* createReadStream(file, { end: bytes - 1 }) as AsyncIterable<Uint8Array>;
}

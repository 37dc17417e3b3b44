/** Text to bytes: gathered into large pieces, compressed where asked for, counted and hashed as they leave. */
import { createHash } from "node:crypto";
import { once } from "node:events";
import { createGzip, type Gzip } from "node:zlib";

export interface SinkTotals {
  readonly bytes: number;
  /** Of exactly the bytes that left, in hex. */
  readonly sha256: string;
}

export interface TextSink {
  /** Passes on bytes that stand before the text as they are: what a file held before. */
  writeBytes(bytes: Uint8Array): Promise<void>;
  write(text: string): Promise<void>;
  /** Passes on what is left. */
  end(): Promise<SinkTotals>;
  /** Frees what the sink holds, after a failure too. */
  destroy(): void;
}

const GATHERED_CHARACTERS = 256 * 1024;

/** `write` receives the bytes one after the other and may take its time. */
export function createTextSink({
  gzip,
  write,
}: {
  readonly gzip: boolean;
  readonly write: (bytes: Uint8Array) => Promise<void>;
}): TextSink {
  const hash = createHash("sha256");
  let bytes = 0;
  let gathered = "";
  const pass = async (chunk: Uint8Array): Promise<void> => {
    hash.update(chunk);
    bytes += chunk.length;
    await write(chunk);
  };
  const compressor = gzip ? createCompressor(pass) : null;
  const flush = async (): Promise<void> => {
    if (gathered === "") return;
    const chunk = Buffer.from(gathered);
    gathered = "";
    await (compressor === null ? pass(chunk) : compressor.write(chunk));
  };
  return {
    writeBytes: pass,
    async write(text) {
      gathered += text;
      if (gathered.length >= GATHERED_CHARACTERS) await flush();
    },
    async end() {
      await flush();
      await compressor?.end();
      return { bytes, sha256: hash.digest("hex") };
    },
    destroy: () => compressor?.destroy(),
  };
}

interface Compressor {
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
  destroy(): void;
}

function createCompressor(pass: (chunk: Uint8Array) => Promise<void>): Compressor {
  const gzip = createGzip();
  const passed = passAll(gzip, pass);
  // Met by whoever writes or ends next.
  passed.catch(() => {});
  return {
    async write(chunk) {
      if (!gzip.write(chunk)) await Promise.race([once(gzip, "drain"), passed]);
    },
    async end() {
      gzip.end();
      await passed;
    },
    destroy: () => gzip.destroy(),
  };
}

async function passAll(gzip: Gzip, pass: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  for await (const chunk of gzip) await pass(chunk as Uint8Array);
}

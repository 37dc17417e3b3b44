import { createHash } from "node:crypto";
import { once } from "node:events";
import { createGzip, type Gzip } from "node:zlib";

export interface SinkTotals {
  readonly bytes: number;
  /** Hex SHA-256 of the written bytes, after compression. */
  readonly sha256: string;
}

export interface TextSink {
  /** Appends bytes of the existing file unchanged, without compressing them again. */
  keep(bytes: Uint8Array): Promise<void>;
  write(text: string | Uint8Array): Promise<void>;
  end(): Promise<SinkTotals>;
  destroy(): void;
}

const GATHERED_BYTES = 256 * 1024;

/** Callers must await each `write` before the next one. */
export function createTextSink({
  gzip,
  write,
}: {
  readonly gzip: boolean;
  readonly write: (bytes: Uint8Array) => Promise<void>;
}): TextSink {
  const hash = createHash("sha256");
  let bytes = 0;
  let gathered: Uint8Array[] = [];
  let gatheredBytes = 0;
  const pass = async (chunk: Uint8Array): Promise<void> => {
    hash.update(chunk);
    bytes += chunk.length;
    await write(chunk);
  };
  const compressor = gzip ? createCompressor(pass) : null;
  const flush = async (): Promise<void> => {
    if (gatheredBytes === 0) return;
    const chunk = Buffer.concat(gathered, gatheredBytes);
    gathered = [];
    gatheredBytes = 0;
    await (compressor === null ? pass(chunk) : compressor.write(chunk));
  };
  return {
    keep: pass,
    async write(text) {
      const chunk = typeof text === "string" ? Buffer.from(text) : text;
      gathered.push(chunk);
      gatheredBytes += chunk.length;
      if (gatheredBytes >= GATHERED_BYTES) await flush();
    },
    async end() {
      await flush();
      await compressor?.end();
      return { bytes, sha256: hash.digest("hex") };
    },
    destroy: () => compressor?.destroy(),
  };
}

function createCompressor(pass: (chunk: Uint8Array) => Promise<void>) {
  const gzip = createGzip();
  const passed = passAll(gzip, pass);
  // Avoids an unhandled rejection; the next write or end reports the error.
  passed.catch(() => {});
  return {
    async write(chunk: Uint8Array): Promise<void> {
      if (!gzip.write(chunk)) await Promise.race([once(gzip, "drain"), passed]);
    },
    async end(): Promise<void> {
      gzip.end();
      await passed;
    },
    destroy: (): void => void gzip.destroy(),
  };
}

async function passAll(gzip: Gzip, pass: (chunk: Uint8Array) => Promise<void>): Promise<void> {
  for await (const chunk of gzip) await pass(chunk as Uint8Array);
}

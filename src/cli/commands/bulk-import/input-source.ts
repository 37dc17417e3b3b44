/** The input as a file that can be read twice, and what it is known by. */
import { createHash } from "node:crypto";
import { open, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { InputFile } from "../../../bulk/import/records.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";

export interface InputSource {
  readonly file: InputFile;
  /** SHA-256 of the bytes, hexadecimal. */
  hash(): Promise<string>;
  /** Removes what was spooled. */
  close(): Promise<void>;
}

/** `-` is standard input, put aside on disk since it is read twice. Throws UsageError, or the system's error. */
export async function openInput(deps: Deps, name: string, delimiter: string | null): Promise<InputSource> {
  if (name === "-") return spool(deps, delimiter);
  if ((await stat(name)).isDirectory()) throw new UsageError(`${name} is a directory, not a file`);
  const file: InputFile = { path: name, name: path.basename(name), delimiter };
  return { file, hash: () => hashFile(name), close: async () => undefined };
}

async function spool({ streams, random }: Deps, delimiter: string | null): Promise<InputSource> {
  if (streams.in.isTTY) throw new UsageError("standard input is the terminal; name a file, or pipe one in");
  const spooled = path.join(tmpdir(), `surveyctl-${random.token(9)}.input`);
  const close = (): Promise<void> => unlink(spooled);
  try {
    await writeFile(spooled, streams.in.bytes(), { flag: "wx", mode: 0o600 });
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return { file: { path: spooled, name: "standard input", delimiter }, hash: () => hashFile(spooled), close };
}

const CHUNK_BYTES = 64 * 1024;

async function hashFile(name: string): Promise<string> {
  const hash = createHash("sha256");
  const file = await open(name, "r");
  try {
    // One buffer for all: a stream's would be as large as the file before the first of them is collected.
    const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length, null);
      if (bytesRead === 0) return hash.digest("hex");
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** The input as a file that can be read twice, and what it is known by. */
import { createHash } from "node:crypto";
import { open, stat, unlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { InputFile } from "../../bulk/import/table/records.ts";
import { readPipe } from "../../runtime/pipe-reader.ts";
import type { Deps } from "../command/deps.ts";
import { UsageError } from "../errors/usage-error.ts";

export interface InputSource {
  readonly file: InputFile;
  /** SHA-256 of the bytes, hexadecimal. */
  hash(): Promise<string>;
  /** Removes what was spooled. */
  close(): Promise<void>;
}

/** Where standard input is a socket, as programs hand it down, the system opens none of the long names. */
const STANDARD_INPUT: ReadonlySet<string> = new Set(["-", "/dev/stdin", "/dev/fd/0", "/proc/self/fd/0"]);

/** Standard input and pipes, a shell's `<(…)` among them: what was read once is gone. */
export async function isReadOnce(name: string): Promise<boolean> {
  if (STANDARD_INPUT.has(name)) return true;
  const found = await stat(name).catch(() => null);
  return found !== null && !found.isFile() && !found.isDirectory();
}

/** `-` is standard input. What can be read only once is put aside on disk. Throws UsageError, or the system's error. */
export async function openInput(deps: Deps, name: string, delimiter: string | null): Promise<InputSource> {
  if (STANDARD_INPUT.has(name)) return spoolStandardInput(deps, delimiter);
  if (await isReadOnce(name)) return spool(deps, readPipe(name, deps.signal), { name, delimiter });
  if ((await stat(name)).isDirectory()) throw new UsageError(`${name} is a directory, not a file`);
  const file: InputFile = { path: name, name: path.basename(name), delimiter };
  return { file, hash: () => hashFile(name), close: async () => undefined };
}

async function spoolStandardInput(deps: Deps, delimiter: string | null): Promise<InputSource> {
  const { in: standardInput } = deps.streams;
  if (standardInput.isTTY) throw new UsageError("standard input is the terminal; name a file, or pipe one in");
  return spool(deps, standardInput.bytes(), { name: "standard input", delimiter });
}

type Input = Pick<InputFile, "name" | "delimiter">;

async function spool({ random }: Deps, pieces: AsyncIterable<Uint8Array>, input: Input): Promise<InputSource> {
  const spooled = path.join(tmpdir(), `surveyctl-${random.token(9)}.input`);
  const close = (): Promise<void> => unlink(spooled);
  try {
    await writeFile(spooled, pieces, { flag: "wx", mode: 0o600 });
  } catch (error) {
    await close().catch(() => undefined);
    throw error;
  }
  return { file: { ...input, path: spooled }, hash: () => hashFile(spooled), close };
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

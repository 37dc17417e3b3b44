/** The input as a file that can be read twice, and what it is known by. */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, stat, unlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import type { InputFile } from "../../../bulk/import/records.ts";
import type { Deps } from "../../deps.ts";
import { UsageError } from "../../errors/usage-error.ts";

export interface InputSource {
  readonly file: InputFile;
  readonly isStandardInput: boolean;
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
  return { file, isStandardInput: false, hash: () => hashFile(name), close: async () => undefined };
}

async function spool({ streams, random }: Deps, delimiter: string | null): Promise<InputSource> {
  if (streams.in.isTTY) throw new UsageError("standard input is the terminal; name a file, or pipe one in");
  const spooled = path.join(tmpdir(), `surveyctl-${random.token(9)}.input`);
  const handle = await open(spooled, "wx", 0o600);
  try {
    for await (const bytes of streams.in.bytes()) await handle.writeFile(bytes);
  } finally {
    await handle.close();
  }
  const close = (): Promise<void> => unlink(spooled);
  return { file: { path: spooled, name: "standard input", delimiter }, isStandardInput: true, hash: () => hashFile(spooled), close };
}

async function hashFile(file: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest("hex");
}

import { wordsOfRefusal } from "../../../../runtime/files/system-words.ts";
import { readChunks } from "../../../../runtime/pipe-reader.ts";

/** More than any logo may have; what is larger is refused, and the rest of it need not be read. */
const READ_MAX = 64 * 1024;

export interface LogoRefusals {
  readonly unreadable: (why: string) => Error;
  /** Without a byte it would take the logo back. */
  readonly empty: () => Error;
}

/** As base64. Throws what `refuse` makes of a file that cannot be a logo. */
export async function readLogoFile(file: string, refuse: LogoRefusals): Promise<string> {
  const bytes = await readStart(file).catch((error: unknown) => {
    throw refuse.unreadable(wordsOfRefusal(error));
  });
  if (bytes.length === 0) throw refuse.empty();
  return bytes.toString("base64");
}

async function readStart(file: string): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(file)) {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size >= READ_MAX) break;
  }
  return Buffer.concat(chunks);
}

import { systemErrorText } from "../../../../runtime/files/system-words.ts";
import { readAtMost, readChunks } from "../../../../runtime/pipe-reader.ts";

/** More than any logo may have: a larger file is refused by its size alone. */
const READ_MAX = 64 * 1024;

export interface LogoRefusals {
  readonly unreadable: (why: string) => Error;
  /** Without a byte it would take the logo back. */
  readonly empty: () => Error;
}

/** As base64. Throws what `refuse` makes of a file that cannot be a logo. */
export async function readLogoFile(file: string, refuse: LogoRefusals): Promise<string> {
  const bytes = await readAtMost(readChunks(file), READ_MAX).catch((error: unknown) => {
    throw refuse.unreadable(systemErrorText(error));
  });
  if (bytes?.length === 0) throw refuse.empty();
  return (bytes ?? Buffer.alloc(READ_MAX)).toString("base64");
}

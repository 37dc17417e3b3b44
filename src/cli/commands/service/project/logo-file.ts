import { systemErrorText } from "../../../../runtime/files/system-words.ts";
import { readAtMost, readChunks } from "../../../../runtime/pipe-reader.ts";

/** More than the limit for logos, so that a large file is refused without reading all of it. */
const READ_MAX = 64 * 1024;

export interface LogoRefusals {
  readonly unreadable: (why: string) => Error;
  /** The error for an empty file, which would otherwise clear the current logo. */
  readonly empty: () => Error;
}

export async function readLogoFile(file: string, refuse: LogoRefusals): Promise<string> {
  const bytes = await readAtMost(readChunks(file), READ_MAX).catch((error: unknown) => {
    throw refuse.unreadable(systemErrorText(error));
  });
  if (bytes?.length === 0) throw refuse.empty();
  return (bytes ?? Buffer.alloc(READ_MAX)).toString("base64");
}

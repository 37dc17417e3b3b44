import { readFile } from "node:fs/promises";

/** More than any logo may have; what is larger is refused, and the rest of it need not be read. */
const READ_MAX = 64 * 1024;

export interface LogoRefusals {
  readonly unreadable: (error: Error) => Error;
  /** Without a byte it would take the logo back. */
  readonly empty: () => Error;
}

/** As base64. Throws what `refuse` makes of a file that cannot be a logo. */
export async function readLogoFile(file: string, refuse: LogoRefusals): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    throw refuse.unreadable(error as Error);
  });
  if (bytes.length === 0) throw refuse.empty();
  return bytes.subarray(0, READ_MAX).toString("base64");
}

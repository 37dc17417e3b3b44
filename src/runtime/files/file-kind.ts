/** Files that are no regular ones: pipes, sockets and devices, which are never replaced, removed or waited for. */
import { readFile, stat } from "node:fs/promises";
import type { Stats } from "node:fs";

/** Such as `a named pipe`; null for a regular file. */
export function specialKind(found: Stats): string | null {
  if (found.isFile()) return null;
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a named pipe";
  return found.isSocket() ? "a socket" : "a device";
}

/** The text of a regular file. Rejects for any other, as to read a pipe would wait for its writer. */
export async function readRegular(file: string): Promise<string> {
  const kind = specialKind(await stat(file));
  if (kind !== null) throw new Error(`it is ${kind}, not a regular file`);
  return readFile(file, "utf8");
}

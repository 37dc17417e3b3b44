import { readFile, stat } from "node:fs/promises";
import type { Stats } from "node:fs";

export function specialKind(found: Stats): string | null {
  if (found.isFile()) return null;
  if (found.isDirectory()) return "a directory";
  if (found.isFIFO()) return "a named pipe";
  return found.isSocket() ? "a socket" : "a device";
}

/** Rejects special files, because reading a pipe would wait for a writer. */
export async function readRegular(file: string): Promise<string> {
  const kind = specialKind(await stat(file));
  if (kind !== null) throw new Error(`it is ${kind}, not a regular file`);
  return readFile(file, "utf8");
}

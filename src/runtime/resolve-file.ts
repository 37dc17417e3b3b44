import { realpathSync } from "node:fs";
import { stat } from "node:fs/promises";
import path from "node:path";
import { followLinks } from "./file-replacement.ts";

/** One path for every spelling of a file and every link to it; of a file that is not there yet, the absolute path. */
export function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

/** Whether two names lead to one file, through links of either kind; also where there is no file yet. */
export async function isSameFile(one: string, other: string): Promise<boolean> {
  const [first, second] = await Promise.all([one, other].map(placeOf));
  if (first === second) return true;
  const [a, b] = await Promise.all([one, other].map((file) => stat(file).catch(() => null)));
  return a != null && b != null && a.dev === b.dev && a.ino === b.ino && a.isFile();
}

async function placeOf(file: string): Promise<string> {
  const target = await followLinks(file);
  return path.join(resolveFile(path.dirname(target)), path.basename(target));
}

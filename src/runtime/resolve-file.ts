import { realpathSync } from "node:fs";
import path from "node:path";

/** One path for every spelling of a file and every link to it; of a file that is not there yet, the absolute path. */
export function resolveFile(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return path.resolve(file);
  }
}

import { mkdir, stat } from "node:fs/promises";
import path from "node:path";

/**
 * Like mkdir -p. Node's `recursive` loops forever if a file system returns ENOENT for a new folder, as /proc and some
 * automounted homes do.
 */
export async function makeFolder(folder: string, mode: number): Promise<void> {
  const found = await look(folder);
  if (found === "folder") return;
  const parent = path.dirname(folder);
  if (found === "missing" && parent !== folder) await makeFolder(parent, mode);
  try {
    await mkdir(folder, { mode });
  } catch (error) {
    // Another process may have created it.
    if ((error as NodeJS.ErrnoException).code !== "EEXIST" || (await look(folder)) !== "folder") throw error;
  }
}

async function look(folder: string): Promise<"folder" | "missing" | "other"> {
  try {
    return (await stat(folder)).isDirectory() ? "folder" : "other";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? "missing" : "other";
  }
}

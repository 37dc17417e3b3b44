/** What a running server leaves beside its data file, for its owner's eyes alone. */
import { lstat, readFile, rm } from "node:fs/promises";
import { replaceFile, resolveFile } from "../../runtime/files/file-replacement.ts";
import { isPrivate } from "../../runtime/files/processes.ts";

export interface ControlRecord {
  /** Where clients find the service. */
  readonly address: string;
  /** Where commands find it: loopback, plain HTTP. */
  readonly control: string;
  readonly pid: number;
  /** When that process was started, as the system tells it; null where it does not. */
  readonly started: string | null;
  /** What lets commands in. */
  readonly secret: string;
}

/** The path of a data file's record: another spelling of the same file, or a link to it, leads to the same one. */
export function controlFile(dataFile: string): string {
  return `${resolveFile(dataFile)}.control`;
}

/** Writes atomically, readable only by this user. `token` is unique. */
export async function writeControlFile(dataFile: string, record: ControlRecord, token: string): Promise<void> {
  // A link there must not be followed, nor an old mode kept.
  await removeControlFile(dataFile);
  await replaceFile(controlFile(dataFile), `${JSON.stringify(record)}\n`, token);
}

/** Null when there is none, it cannot be read as one, or others could have written it. */
export async function readControlFile(dataFile: string): Promise<ControlRecord | null> {
  try {
    const found = await lstat(controlFile(dataFile));
    if (!found.isFile() || !isPrivate(found, 0o077)) return null;
    const value = JSON.parse(await readFile(controlFile(dataFile), "utf8")) as Partial<
      Record<keyof ControlRecord, unknown>
    > | null;
    const { address, control, pid, started = null, secret } = value ?? {};
    if (
      typeof address !== "string" ||
      typeof control !== "string" ||
      typeof pid !== "number" ||
      (started !== null && typeof started !== "string") ||
      typeof secret !== "string"
    )
      return null;
    return { address, control, pid, started, secret };
  } catch {
    return null;
  }
}

/** No file is as good as a removed one. A pipe, socket or device of that name is none of ours and stays. */
export async function removeControlFile(dataFile: string): Promise<void> {
  const file = controlFile(dataFile);
  const found = await lstat(file).catch(() => null);
  if (found?.isFile() === true || found?.isSymbolicLink() === true) await rm(file, { force: true });
}

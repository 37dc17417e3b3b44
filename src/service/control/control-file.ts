/** What a running server leaves beside its data file, for its owner's eyes alone. */
import { open, readFile, rename, rm } from "node:fs/promises";
import { resolveFile } from "../../runtime/resolve-file.ts";

export interface ControlRecord {
  /** Where clients find the service. */
  readonly address: string;
  /** Where commands find it: loopback, plain HTTP. */
  readonly control: string;
  readonly pid: number;
  /** What lets commands in. */
  readonly secret: string;
}

/** Where the record of a data file lies: another spelling of the same file, or a link to it, leads to the same one. */
export function controlFile(dataFile: string): string {
  return `${resolveFile(dataFile)}.control`;
}

/** Written whole or not at all. Only the owner of the data file calls this, so nobody else writes meanwhile. */
export async function writeControlFile(dataFile: string, record: ControlRecord): Promise<void> {
  const file = controlFile(dataFile);
  const temporary = `${file}.${record.pid}`;
  await rm(temporary, { force: true });
  const handle = await open(temporary, "wx", 0o600);
  try {
    await handle.writeFile(`${JSON.stringify(record)}\n`);
  } finally {
    await handle.close();
  }
  await rename(temporary, file);
}

/** Null when there is none or it cannot be read as one. */
export async function readControlFile(dataFile: string): Promise<ControlRecord | null> {
  try {
    const value = JSON.parse(await readFile(controlFile(dataFile), "utf8")) as Partial<
      Record<keyof ControlRecord, unknown>
    > | null;
    const { address, control, pid, secret } = value ?? {};
    if (
      typeof address !== "string" ||
      typeof control !== "string" ||
      typeof pid !== "number" ||
      typeof secret !== "string"
    )
      return null;
    return { address, control, pid, secret };
  } catch {
    return null;
  }
}

/** No file is as good as a removed one. */
export async function removeControlFile(dataFile: string): Promise<void> {
  await rm(controlFile(dataFile), { force: true });
}

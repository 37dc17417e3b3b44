import { open, readdir, rename } from "node:fs/promises";
import path from "node:path";

const MESSAGE_MAX = 10 * 1024 * 1024;

export interface MaildirMessage {
  readonly folder: "new" | "cur";
  readonly name: string;
}

export class NoMaildirError extends Error {
  override readonly name = "NoMaildirError";
}

export async function listUnseen(maildir: string): Promise<readonly MaildirMessage[]> {
  // Sequential, so that an error always names the same folder.
  const fresh = await listFolder(maildir, "new");
  const current = await listFolder(maildir, "cur");
  const unseen = current.filter(({ name }) => !splitName(name).flags.includes("S"));
  return [...fresh, ...unseen].toSorted((left, right) => (left.name < right.name ? -1 : 1));
}

async function listFolder(maildir: string, folder: MaildirMessage["folder"]): Promise<MaildirMessage[]> {
  try {
    const entries = await readdir(path.join(maildir, folder), { withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile() && !entry.name.startsWith("."))
      .map(({ name }) => ({ folder, name }));
  } catch (error) {
    throw new NoMaildirError(`${maildir} is not a Maildir: ${folder}/ cannot be read`, { cause: error });
  }
}

export async function readMessage(maildir: string, { folder, name }: MaildirMessage): Promise<Uint8Array> {
  const handle = await open(path.join(maildir, folder, name), "r");
  try {
    return await readStart(handle.createReadStream({ autoClose: false, end: MESSAGE_MAX - 1 }));
  } finally {
    await handle.close();
  }
}

/** Returns the first 10 MiB and discards the rest, so that the program writing them can finish. */
export async function readStart(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    if (size < MESSAGE_MAX) chunks.push(chunk.subarray(0, MESSAGE_MAX - size));
    size += chunk.byteLength;
  }
  return Buffer.concat(chunks);
}

export async function markSeen(maildir: string, { folder, name }: MaildirMessage): Promise<void> {
  const { unique, flags } = splitName(name);
  const seen = [...new Set(`${flags}S`.split(""))].toSorted().join("");
  try {
    await rename(path.join(maildir, folder, name), path.join(maildir, "cur", `${unique}:2,${seen}`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function splitName(name: string): { readonly unique: string; readonly flags: string } {
  const [unique = name, flags = ""] = name.split(":2,");
  return { unique, flags };
}

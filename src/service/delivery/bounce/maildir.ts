/** Returned messages in a Maildir, each until it is recorded: what is recorded is marked as seen. */
import { open, readdir, rename } from "node:fs/promises";
import path from "node:path";

/** Bytes of a message that are read; what is beyond is more than any server returns. */
const MESSAGE_MAX = 10 * 1024 * 1024;

export interface MaildirMessage {
  /** `new` or `cur`, and the name in it. */
  readonly folder: "new" | "cur";
  readonly name: string;
}

/** The folder is not a Maildir. */
export class NoMaildirError extends Error {
  override readonly name = "NoMaildirError";
}

/** Messages that are not marked as seen, in the order in which they came. Throws NoMaildirError. */
export async function listUnseen(maildir: string): Promise<readonly MaildirMessage[]> {
  // One after the other, so that the folder that is named in an error is the same each time.
  const fresh = await listFolder(maildir, "new");
  const current = await listFolder(maildir, "cur");
  const unseen = current.filter(({ name }) => !partsOf(name).flags.includes("S"));
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

/** The first 10 MiB of a message. Rejects with the system's error. */
export async function readMessage(maildir: string, { folder, name }: MaildirMessage): Promise<Uint8Array> {
  const handle = await open(path.join(maildir, folder, name), "r");
  try {
    return await readStart(handle.createReadStream({ autoClose: false, end: MESSAGE_MAX - 1 }));
  } finally {
    await handle.close();
  }
}

/** The first 10 MiB; the rest is read and thrown away, so that its writer is not cut off. */
export async function readStart(bytes: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of bytes) {
    if (size < MESSAGE_MAX) chunks.push(chunk.subarray(0, MESSAGE_MAX - size));
    size += chunk.byteLength;
  }
  return Buffer.concat(chunks);
}

/** Moves a message to `cur` with the flag of what was seen. One that another run or program has moved stays there. */
export async function markSeen(maildir: string, { folder, name }: MaildirMessage): Promise<void> {
  const { unique, flags } = partsOf(name);
  const seen = [...new Set(`${flags}S`.split(""))].toSorted().join("");
  try {
    await rename(path.join(maildir, folder, name), path.join(maildir, "cur", `${unique}:2,${seen}`));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT") throw error;
  }
}

function partsOf(name: string): { readonly unique: string; readonly flags: string } {
  const [unique = name, flags = ""] = name.split(":2,");
  return { unique, flags };
}

/**
 * One process at a time, whatever its process namespace: each candidate holds a Unix socket beside the thing, which the
 * kernel closes with its process and which every process on the machine can reach. A candidate shows its socket first
 * and looks at all others then, so of two at least one sees the other.
 */
import { chmod, open, readdir, rename, stat, unlink, type FileHandle } from "node:fs/promises";
import { createHash } from "node:crypto";
import { connect, createServer, type Server } from "node:net";
import path from "node:path";
import type { Clock } from "../clock.ts";

/** A living process holds it, or is about to. */
export class PresentError extends Error {
  override readonly name = "PresentError";
  /** The other's process id as it sees itself; null when it did not say. */
  readonly pid: number | null;

  constructor(pid: number | null) {
    super("another process is present");
    this.pid = pid;
  }
}

export interface Presence {
  /** Closes the socket and removes it; nobody else's. */
  end(): Promise<void>;
}

export interface PresenceOptions {
  /** What is held; need not exist. */
  readonly file: string;
  readonly pid: number;
  /** Unique, of characters that file names may have. */
  readonly token: string;
  readonly clock: Clock;
}

/** The system's limit is 108 bytes, on some 104, with the byte that ends it. */
const ADDRESS_BYTES_MAX = 100;
const NAME_BYTES_MAX = 40;
const ANSWER_MS = 1_000;
const LOOK_AGAIN_MS = 20;
const PATIENCE_MS = 5_000;
const SOCKET_MODE = 0o600;

/**
 * Becomes the one that is present. Throws PresentError while another is. Null where the file system or the length of the
 * path allows no sockets.
 */
export async function becomePresent(options: PresenceOptions): Promise<Presence | null> {
  const folder = path.dirname(options.file);
  const prefix = `${shortName(path.basename(options.file))}.alive.`;
  const name = prefix + options.token;
  const state = { isOwner: false };
  const reach = await openFolder(folder);
  try {
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.end(`${JSON.stringify({ pid: options.pid, token: options.token, isOwner: state.isOwner })}\n`);
    });
    if (!(await show(server, reach, name))) return null;
    const end = async (): Promise<void> => {
      server.close();
      await unlink(path.join(folder, name)).catch(() => undefined);
    };
    try {
      await outlast(options, { folder, prefix, name, reach });
    } catch (error) {
      await end();
      throw error;
    }
    state.isOwner = true;
    await removeHidden({ folder, prefix: `.${prefix}`, reach });
    return { end };
  } finally {
    await reach.close();
  }
}

function shortName(name: string): string {
  if (Buffer.byteLength(name) <= NAME_BYTES_MAX) return name;
  return createHash("sha256").update(name).digest("hex").slice(0, 16);
}

interface Reach {
  /** What the kernel is given for a name in the folder. */
  address(name: string): string;
  close(): Promise<void>;
  readonly folder: string;
}

/** A long path is shortened by Linux's own link to the open folder. */
async function openFolder(folder: string): Promise<Reach> {
  const absolute = path.resolve(folder);
  const handle: FileHandle | null =
    Buffer.byteLength(absolute) + NAME_BYTES_MAX + 30 > ADDRESS_BYTES_MAX
      ? await open(absolute, "r").catch(() => null)
      : null;
  const base = handle === null ? absolute : `/proc/self/fd/${handle.fd}`;
  return {
    folder: absolute,
    address: (name) => path.join(base, name),
    close: async () => handle?.close(),
  };
}

/** Listens under a name that nobody looks for and then shows it, so that whoever sees it can connect. False where that cannot be. */
async function show(server: Server, reach: Reach, name: string): Promise<boolean> {
  const hidden = `.${name}`;
  const address = reach.address(hidden);
  if (Buffer.byteLength(address) > ADDRESS_BYTES_MAX) return false;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(address, resolve);
    });
    server.unref();
    await chmod(path.join(reach.folder, hidden), SOCKET_MODE);
    await rename(path.join(reach.folder, hidden), path.join(reach.folder, name));
    return true;
  } catch {
    server.close();
    await unlink(path.join(reach.folder, hidden)).catch(() => undefined);
    return false;
  }
}

interface Place {
  readonly folder: string;
  readonly prefix: string;
  readonly name: string;
  readonly reach: Reach;
}

/** Of several candidates the one whose name comes first stays; whoever holds it already stays before all. */
async function outlast({ clock }: PresenceOptions, place: Place): Promise<void> {
  const startedMs = clock.monotonic();
  for (;;) {
    const others = await lookAround(place);
    const before = others.find(({ isOwner, name }) => isOwner || name < place.name);
    if (before !== undefined) throw new PresentError(before.pid);
    if (others.length === 0) return;
    // Those behind us give way as soon as they see us.
    if (clock.monotonic() - startedMs > PATIENCE_MS) throw new PresentError(others[0]?.pid ?? null);
    await clock.sleep(LOOK_AGAIN_MS);
  }
}

interface Other {
  readonly name: string;
  readonly pid: number | null;
  readonly isOwner: boolean;
}

/** All others that live; the sockets of dead ones are removed on the way, since nothing brings those back. */
async function lookAround({ folder, prefix, name, reach }: Place): Promise<Other[]> {
  const others: Other[] = [];
  for (const other of await readdir(folder)) {
    if (!other.startsWith(prefix) || other === name) continue;
    const answer = await ask(reach.address(other));
    if (answer === null) await unlink(path.join(folder, other)).catch(() => undefined);
    else others.push({ ...answer, name: other });
  }
  return others;
}

/** A start shows its socket within milliseconds; one that is hidden for that long, and dead, was killed before. */
const HIDDEN_MS = 60_000;

async function removeHidden({ folder, prefix, reach }: Omit<Place, "name">): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!name.startsWith(prefix)) continue;
    const found = await stat(path.join(folder, name)).catch(() => null);
    if (found === null || Date.now() - found.mtimeMs < HIDDEN_MS || (await ask(reach.address(name))) !== null) continue;
    await unlink(path.join(folder, name)).catch(() => undefined);
  }
}

/** Null when no process holds that socket. One that does not say who it is counts as the owner. */
async function ask(address: string): Promise<Omit<Other, "name"> | null> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const answer = await askOnce(address);
    // One that was just closing leaves us without a word; the next look finds nothing there.
    if (answer !== "cut off") return answer;
  }
  return UNNAMED_OWNER;
}

const TRIES_MAX = 5;
const UNNAMED_OWNER = { pid: null, isOwner: true };

function askOnce(address: string): Promise<Omit<Other, "name"> | null | "cut off"> {
  return new Promise((resolve) => {
    const said: string[] = [];
    const socket = connect(address);
    socket.setEncoding("utf8").setTimeout(ANSWER_MS, () => {
      resolve(UNNAMED_OWNER);
      socket.destroy();
    });
    socket.on("data", (text: string) => said.push(text));
    socket.on("close", () => resolve(said.length === 0 ? "cut off" : parseAnswer(said.join(""))));
    socket.on("error", ({ code = "" }: NodeJS.ErrnoException) => {
      if (code === "ECONNREFUSED" || code === "ENOENT") resolve(null);
      else if (code !== "ECONNRESET" && code !== "EPIPE") resolve(UNNAMED_OWNER);
    });
  });
}

function parseAnswer(text: string): Omit<Other, "name"> {
  try {
    const { pid, isOwner } = JSON.parse(text) as Record<string, unknown>;
    return { pid: typeof pid === "number" ? pid : null, isOwner: isOwner !== false };
  } catch {
    return UNNAMED_OWNER;
  }
}

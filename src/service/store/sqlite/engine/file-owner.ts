/** One process owns a data file: its process id lies beside it, and a dead owner's traces are cleared away. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { randomUUID } from "node:crypto";
import { currentProcess, isRunning, type ProcessMark } from "../../../../runtime/processes.ts";
import { resolveFile } from "../../../../runtime/resolve-file.ts";
import { StoreBusyError } from "../../store-busy-error.ts";

export interface Owner extends ProcessMark {
  /** One opening of the file. */
  readonly opening: string;
}

/** Whether the process that left this record is still running. */
export type IsAlive = (owner: Owner) => boolean;

export interface Ownership {
  release(): void;
}

/** Files that this process has open, so that it does not take its own earlier record for a dead namesake's. */
const openings = new Set<string>();

/** Makes this process the owner of `file`; throws StoreBusyError while a living process is. */
export function ownFile(file: string, isAlive: IsAlive = isOwnerAlive): Ownership {
  const record = `${resolveFile(file)}.owner`;
  const owner: Owner = { ...currentProcess(), opening: randomUUID() };
  const text = `${JSON.stringify(owner)}\n`;
  while (!tryCreate(record, text)) removeDead(file, record, isAlive);
  openings.add(owner.opening);
  removeStaleLock(resolveFile(file));
  return {
    release: () => {
      openings.delete(owner.opening);
      if (readOwner(record)?.opening === owner.opening) rmSync(record, { force: true });
    },
  };
}

function isOwnerAlive(owner: Owner): boolean {
  return isRunning(owner) && (owner.pid !== currentProcess().pid || openings.has(owner.opening));
}

function tryCreate(record: string, text: string): boolean {
  try {
    writeFileSync(record, text, { flag: "wx", mode: 0o600 });
    return true;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "EEXIST") return false;
    throw error;
  }
}

/** Removes a dead owner's record. Of several processes that see it dead, one gets to move it; the others look again. */
function removeDead(file: string, record: string, isAlive: IsAlive): void {
  const owner = readOwner(record);
  if (owner !== null && isAlive(owner)) throw new StoreBusyError(file, owner.pid);
  const aside = `${record}.${randomUUID()}`;
  try {
    renameSync(record, aside);
  } catch {
    return;
  }
  const moved = readOwner(aside);
  if (moved !== null && moved.opening !== owner?.opening && isAlive(moved)) {
    // Another process had taken over between the two looks: its record goes back.
    renameSync(aside, record);
    throw new StoreBusyError(file, moved.pid);
  }
  rmSync(aside, { force: true });
}

function readOwner(record: string): Owner | null {
  try {
    const value = JSON.parse(readFileSync(record, "utf8")) as Partial<Owner> | null;
    if (typeof value?.pid !== "number" || typeof value.opening !== "string") return null;
    return { pid: value.pid, started: value.started ?? null, opening: value.opening };
  } catch {
    return null;
  }
}

/** The WebAssembly engine locks with a directory, which a killed process leaves behind. */
function removeStaleLock(file: string): void {
  rmSync(`${file}.lock`, { recursive: true, force: true });
}

/** Makes the folder that a new data file will lie in. */
export function makeParent(file: string): void {
  mkdirSync(path.dirname(path.resolve(file)), { recursive: true, mode: 0o700 });
}

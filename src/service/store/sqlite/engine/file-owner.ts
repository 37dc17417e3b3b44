/**
 * One process owns a data file: it holds a socket beside it, which the kernel drops with the process and which every
 * process on the machine sees, and a record with its process id, which tells who it is and what it left after a crash.
 */
import { randomUUID } from "node:crypto";
import { rm } from "node:fs/promises";
import path from "node:path";
import type { Clock } from "../../../../runtime/clock.ts";
import { LockedError, readLockPid, takeLock, type Lock, type LockFacts } from "../../../../runtime/files/lock-file.ts";
import { becomePresent, PresentError, type Presence } from "../../../../runtime/files/presence.ts";
import { currentProcess } from "../../../../runtime/files/processes.ts";
import { resolveFile } from "../../../../runtime/files/file-replacement.ts";
import { makeFolder } from "../../../../runtime/files/make-folder.ts";
import { StoreBusyError } from "../../store-errors.ts";

export interface Ownership {
  /** What the last owner had noted, if it died without releasing the file. */
  readonly left: LockFacts | null;
  note(facts: LockFacts): Promise<void>;
  release(): Promise<void>;
}

/** Makes this process the owner of `file`; throws StoreBusyError while a living process is. */
export async function ownFile(file: string, clock: Clock): Promise<Ownership> {
  const resolved = resolveFile(file);
  await makeFolder(path.dirname(resolved), 0o700);
  const presence = await enter(resolved, clock, file);
  try {
    const lock = await takeRecord(resolved, presence !== null, file);
    // The WebAssembly engine locks with a directory, which a killed process leaves behind, or one that gave the file
    // up.
    const unlock = (): Promise<void> => rm(`${resolved}.lock`, { recursive: true, force: true });
    await unlock();
    return {
      left: lock.left,
      note: (facts) => lock.note(facts),
      release: async () => {
        await unlock();
        await lock.release();
        await presence?.end();
      },
    };
  } catch (error) {
    await presence?.end();
    throw error;
  }
}

async function enter(resolved: string, clock: Clock, file: string): Promise<Presence | null> {
  const { pid } = await currentProcess();
  try {
    return await becomePresent({ file: resolved, pid, token: randomUUID().slice(0, 13), clock });
  } catch (error) {
    if (!(error instanceof PresentError)) throw error;
    throw new StoreBusyError(file, error.pid ?? (await readLockPid(`${resolved}.owner`)), { cause: error });
  }
}

/** Without a socket the record alone decides, which processes in other containers keep fresh by touching it. */
async function takeRecord(resolved: string, isAlone: boolean, file: string): Promise<Lock> {
  try {
    return await takeLock(`${resolved}.owner`, randomUUID(), { isAlone });
  } catch (error) {
    throw error instanceof LockedError ? new StoreBusyError(file, error.pid, { cause: error }) : error;
  }
}

/** Processes of this machine: which one this is, and whether another still runs. */
import { readFileSync } from "node:fs";

export interface ProcessMark {
  readonly pid: number;
  /** When it started, as the system tells it; null where it does not. A process id alone may be used again. */
  readonly started: string | null;
}

/** What this process leaves behind, so that others can tell whether it still runs. */
export function currentProcess(): ProcessMark {
  return { pid: process.pid, started: startOf(process.pid) };
}

/** Whether the process that left this mark is still running. */
export function isRunning({ pid, started }: ProcessMark): boolean {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  const startedNow = startOf(pid);
  return startedNow === null || started === null || startedNow === started;
}

/** Linux: clock ticks since boot, the 22nd field; the second may hold spaces and brackets. */
function startOf(pid: number): string | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return stat.slice(stat.lastIndexOf(")") + 2).split(" ")[19] ?? null;
  } catch {
    return null;
  }
}

/** The user that this process runs as; null where the system has no such numbers. */
export function ownUserId(): number | null {
  return process.getuid?.() ?? null;
}

/** Processes of this machine: which one this is, and whether another still runs. */
import type { Stats } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { hostname } from "node:os";

export interface ProcessMark {
  readonly pid: number;
  /** When it started, as the system tells it; null where it does not. A process id alone may be used again. */
  readonly started: string | null;
}

/** The mark that this process leaves behind, so that others can tell whether it still runs. */
export async function currentProcess(): Promise<ProcessMark> {
  return { pid: process.pid, started: await processStart(process.pid) };
}

/** Tells an operator which process is meant: the machine and the process id, without spaces. */
export function processName(): string {
  return `${hostname().replaceAll(/\s/g, "-")}:${process.pid}`;
}

/**
 * The socket that systemd has opened for this process (`LISTEN_FDS`), as a descriptor; null for none. Variables that
 * are meant for another process, such as a parent, do not count. Throws RangeError for more than one.
 */
export function activationSocket(env: Readonly<Record<string, string | undefined>>): number | null {
  const count = Number(env["LISTEN_FDS"] ?? "0");
  if (env["LISTEN_PID"] !== String(process.pid) || !(count > 0)) return null;
  if (count > 1) throw new RangeError(`LISTEN_FDS is ${count}; one socket is supported`);
  return FIRST_PASSED_DESCRIPTOR;
}

/** After the standard streams. */
const FIRST_PASSED_DESCRIPTOR = 3;

/** True while the process that left this mark is running. */
export async function isRunning({ pid, started }: ProcessMark): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // Another user's process may not be signalled, but it is there.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  if (await isLeftOver(pid)) return false;
  const startedNow = await processStart(pid);
  return startedNow === null || started === null || startedNow === started;
}

/**
 * True for a process that has ended, to the last of its threads, while only its parent has not taken notice: some never
 * do.
 */
async function isLeftOver(pid: number): Promise<boolean> {
  const fields = await statFields(pid, "/proc");
  return fields?.[STATE] === "Z" && Number(fields[THREADS]) <= 1;
}

/**
 * The scope in which this process id means this process: the machine since it was started, and the container. Null on a
 * system that does not tell.
 */
export async function currentSpace(): Promise<string | null> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    return `${boot.trim()} ${await readlink("/proc/self/ns/pid")}`;
  } catch {
    return null;
  }
}

/**
 * When a process started, in the system's own words; null where they cannot be had. `proc` is where Linux shows
 * processes.
 */
export async function processStart(pid: number, proc = "/proc"): Promise<string | null> {
  const fields = await statFields(pid, proc);
  if (fields !== null) return fields[STARTED] ?? null;
  // A process that is not shown where processes are shown has ended.
  if ((await readFile(`${proc}/self/stat`, "utf8").catch(() => null)) !== null) return null;
  return startByPs(pid);
}

/** Places behind the name of the program, which may hold spaces and brackets. */
const STATE = 0;
const THREADS = 17;
/** Clock ticks since the machine was started. */
const STARTED = 19;

/** The state of a process as Linux tells it; null where it tells nothing. */
async function statFields(pid: number, proc: string): Promise<readonly string[] | null> {
  const stat = await readFile(`${proc}/${pid}/stat`, "utf8").catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** macOS and the BSDs: to the second, which is enough, since process ids come round more slowly. */
async function startByPs(pid: number): Promise<string | null> {
  const { execFile } = await import("node:child_process");
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
  return new Promise((resolve) => {
    execFile("ps", ["-o", "lstart=", "-p", String(pid)], { env, timeout: 5_000 }, (error, text) => {
      resolve(error !== null || text.trim() === "" ? null : text.trim());
    });
  });
}

/** Asks what a process has started itself to end; one that has ended meanwhile is none of them. */
export async function endChildren(pid: number): Promise<void> {
  const pids = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => null);
  if (pids === null) return endByPkill(pid);
  for (const [child] of pids.matchAll(/\d+/g))
    try {
      process.kill(Number(child), "SIGTERM");
    } catch {
      // It has ended by itself.
    }
}

/** macOS and the BSDs have it; small images of Linux have not. */
async function endByPkill(pid: number): Promise<void> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve) => {
    execFile("pkill", ["-TERM", "-P", String(pid)], () => {
      resolve();
    });
  });
}

/**
 * True for a file or folder that is this user's own and grants others none of the permissions in `mask`, and on systems
 * without users.
 */
export function isPrivate({ uid, mode }: Pick<Stats, "uid" | "mode">, mask: number): boolean {
  const user = ownUserId();
  return user === null || (uid === user && (mode & mask) === 0);
}

/** The program that runs this one, to run another part of ours with, and the flags that it was given itself. */
export function executable(): readonly [program: string, flags: readonly string[]] {
  return [process.execPath, process.execArgv];
}

/** The user that this process runs as; null where the system has no such numbers. */
export function ownUserId(): number | null {
  return process.getuid?.() ?? null;
}

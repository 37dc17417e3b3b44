import type { ExecFileOptions } from "node:child_process";
import type { Stats } from "node:fs";
import { readFile, readlink } from "node:fs/promises";
import { hostname, userInfo } from "node:os";

export interface ProcessMark {
  readonly pid: number;
  /** Start time as the system reports it, or null. Process ids are reused. */
  readonly started: string | null;
}

export async function currentProcess(): Promise<ProcessMark> {
  return { pid: process.pid, started: await processStart(process.pid) };
}

export function processName(): string {
  return `${hostname().replaceAll(/\s/g, "-")}:${process.pid}`;
}

export function systemUser(): string {
  try {
    return userInfo().username;
  } catch {
    return `uid ${process.getuid?.() ?? "unknown"}`;
  }
}

/**
 * The socket passed by systemd (`LISTEN_FDS`), as a descriptor, or null. Ignores variables meant for another process.
 * Throws RangeError for more than one socket.
 */
export function activationSocket(env: Readonly<Record<string, string | undefined>>): number | null {
  const count = Number(env["LISTEN_FDS"] ?? "0");
  if (env["LISTEN_PID"] !== String(process.pid) || !(count > 0)) return null;
  if (count > 1) throw new RangeError(`LISTEN_FDS is ${count}; one socket is supported`);
  return FIRST_PASSED_DESCRIPTOR;
}

const FIRST_PASSED_DESCRIPTOR = 3;

export async function isRunning({ pid, started }: ProcessMark): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch (error) {
    // EPERM: the process exists but belongs to another user.
    if (!(error instanceof Error && "code" in error && error.code === "EPERM")) return false;
  }
  if (await isLeftOver(pid)) return false;
  const startedNow = await processStart(pid);
  return startedNow === null || started === null || startedNow === started;
}

/** True for a zombie: all threads have ended and the parent hasn't waited for it. */
async function isLeftOver(pid: number): Promise<boolean> {
  const fields = await statFields(pid, "/proc");
  return fields?.[STATE] === "Z" && Number(fields[THREADS]) <= 1;
}

export async function currentSpace(): Promise<string | null> {
  try {
    const boot = await readFile("/proc/sys/kernel/random/boot_id", "utf8");
    return `${boot.trim()} ${await readlink("/proc/self/ns/pid")}`;
  } catch {
    return null;
  }
}

export async function processStart(pid: number, proc = "/proc"): Promise<string | null> {
  const fields = await statFields(pid, proc);
  if (fields !== null) return fields[STARTED] ?? null;
  // procfs works but doesn't have the process, so it must have ended.
  if ((await readFile(`${proc}/self/stat`, "utf8").catch(() => null)) !== null) return null;
  return startByPs(pid);
}

/** Indexes of fields after the program's name, which can contain spaces and parentheses. */
const STATE = 0;
const THREADS = 17;
const STARTED = 19;

async function statFields(pid: number, proc: string): Promise<readonly string[] | null> {
  const stat = await readFile(`${proc}/${pid}/stat`, "utf8").catch(() => null);
  return stat === null ? null : stat.slice(stat.lastIndexOf(")") + 2).split(" ");
}

/** For macOS and BSD. Seconds are precise enough, because process ids aren't reused that fast. */
async function startByPs(pid: number): Promise<string | null> {
  const env = { PATH: "/usr/bin:/bin", LC_ALL: "C", TZ: "UTC" };
  const text = await run("ps", ["-o", "lstart=", "-p", String(pid)], { env, timeout: 5_000 });
  return text?.trim() || null;
}

/** Returns the output; null if the program fails or is missing. */
async function run(program: string, args: readonly string[], options: ExecFileOptions = {}): Promise<string | null> {
  const { execFile } = await import("node:child_process");
  return new Promise((resolve) => {
    execFile(program, args, { ...options, encoding: "utf8" }, (error, text) => resolve(error === null ? text : null));
  });
}

export async function endChildren(pid: number): Promise<void> {
  const pids = await readFile(`/proc/${pid}/task/${pid}/children`, "utf8").catch(() => null);
  // Small Linux images have no pkill, and other systems have no procfs.
  if (pids === null) await run("pkill", ["-TERM", "-P", String(pid)]);
  for (const [child] of pids?.matchAll(/\d+/g) ?? [])
    try {
      process.kill(Number(child), "SIGTERM");
    } catch {}
}

export function isPrivate({ uid, mode }: Pick<Stats, "uid" | "mode">, mask: number): boolean {
  const user = ownUserId();
  return user === null || (uid === user && (mode & mask) === 0);
}

export function executable(): readonly [program: string, flags: readonly string[]] {
  return [process.execPath, process.execArgv];
}

export function ownUserId(): number | null {
  return process.getuid?.() ?? null;
}

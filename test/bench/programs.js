// The processes that benchmarks measure: the built program, a real service and a bare server.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";

// Each started process adds an exit listener.
process.setMaxListeners(20);
export const PROGRAM = path.join(import.meta.dirname, "../../bin/surveyctl.js");
/** The kernel's unit of processor time, per second. */
const TICKS = 100;
export const KEY = "benchmark-key";
export const AUTHORIZATION = `Basic ${Buffer.from(`${KEY}:`).toString("base64")}`;

/** Has only a home folder. Extra certificates would slow down every start. */
export function bareEnvironment(extra = {}) {
  return { PATH: process.env.PATH, HOME: tmpdir(), TZ: "UTC", LANG: "C.UTF-8", ...extra };
}

/** A temporary folder that is removed when the benchmark ends. */
export function temporaryFolder() {
  const folder = mkdtempSync(path.join(tmpdir(), "surveyctl-bench-"));
  process.on("exit", () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Starts a service, on a new data file by default. `url` is its address. */
export async function startService(dataFile = path.join(temporaryFolder(), "survey.db"), args = []) {
  return startServing(["--data", dataFile, ...args]);
}

/** Runs `serve` with these arguments. */
export async function startServing(args) {
  const child = spawn(process.execPath, [PROGRAM, "serve", "--port", "0", ...args], {
    env: bareEnvironment({ SURVEYCTL_API_KEY: KEY }),
    stdio: ["ignore", "pipe", "ignore"],
  });
  return { ...running(child), url: await listening(child) };
}

/** Starts a `node:http` server in a separate process. */
export async function startStub(file, ...args) {
  const child = spawn(process.execPath, [path.resolve(import.meta.dirname, file), ...args], {
    env: bareEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  return { ...running(child), url: await listening(child) };
}

function running(child) {
  const stop = async () => {
    if (child.exitCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  };
  process.on("exit", () => child.kill("SIGKILL"));
  return { pid: child.pid, stop };
}

async function listening(child) {
  let said = "";
  for await (const chunk of child.stdout) {
    said += chunk;
    const url = /listening on (http\S+)/.exec(said)?.[1];
    if (url !== undefined) {
      child.stdout.resume();
      return url;
    }
  }
  throw new Error(`the server ended: ${said}`);
}

/** User and system time of a process in milliseconds. */
export function processorMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Runs a command. Returns milliseconds and peak memory in MB. */
export async function runProgram(args, env = {}) {
  const began = performance.now();
  const child = spawn(process.execPath, [PROGRAM, ...args], {
    env: bareEnvironment(env),
    stdio: ["ignore", "pipe", "inherit"],
  });
  let bytes = 0;
  let peakMb = 0;
  child.stdout.on("data", (chunk) => (bytes += chunk.length));
  const watch = setInterval(() => (peakMb = Math.max(peakMb, peakMemoryMb(child.pid))), 10);
  const [status] = await once(child, "close");
  clearInterval(watch);
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return { ms: performance.now() - began, bytes, peakMb };
}

/** The kernel's high-water mark misses no peak. */
function peakMemoryMb(pid) {
  try {
    return Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0) / 1024;
  } catch {
    return 0;
  }
}

// A process from start to end: how long, how much processor, how much memory.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { bareEnvironment } from "./programs.js";

/** Clock ticks a second, as the kernel counts processor time. */
const TICKS = 100;
const LOOK_MS = 5;

/** Milliseconds of processor time that a running process has used, threads included. */
export function processorMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/** Milliseconds of wall and processor time (threads included) and the highest memory in MB. Throws unless it ends with 0. */
export async function measure(file, args, env = {}) {
  const began = performance.now();
  const child = spawn(process.execPath, [file, ...args], {
    env: bareEnvironment(env),
    stdio: ["ignore", "ignore", "inherit"],
  });
  let cpuMs = 0;
  let peakMb = 0;
  const look = () => {
    try {
      cpuMs = Math.max(cpuMs, processorMs(child.pid));
      const status = readFileSync(`/proc/${child.pid}/status`, "utf8");
      peakMb = Math.max(peakMb, Number(/VmHWM:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024);
    } catch {
      // It has just ended.
    }
  };
  const watch = setInterval(look, LOOK_MS);
  const [status] = await once(child, "exit");
  const wallMs = performance.now() - began;
  clearInterval(watch);
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return { wallMs, cpuMs, peakMb };
}

// Runs a process and measures time, processor time and memory.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { bareEnvironment } from "./programs.js";

/** The kernel's unit of processor time, per second. */
const TICKS = 100;
const LOOK_MS = 5;

/** Processor time of a running process in milliseconds, including its threads. */
export function processorMs(pid) {
  const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS;
}

/**
 * Wall time and processor time (including threads) in milliseconds, and peak memory in MB. Throws unless the status is
 * 0.
 */
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
      // The process has just ended.
    }
  };
  const watch = setInterval(look, LOOK_MS);
  const [status] = await once(child, "exit");
  const wallMs = performance.now() - began;
  clearInterval(watch);
  if (status !== 0) throw new Error(`${args.join(" ")} ended with ${status}`);
  return { wallMs, cpuMs, peakMb };
}

/** What other users of the machine see of running programs. */
import { readdir, readFile } from "node:fs/promises";

/** Every command line, its words parted by spaces. */
export async function commandLines(): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  // A process may be gone by the time it is read.
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return texts.map((text) => text.replaceAll("\0", " ").trim());
}

/** Whether the program listens for signals by now; of those it hears SIGHUP is one that Node leaves alone. */
export async function hearsSignals(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return BigInt(`0x${caught}`) % 2n === 1n;
}

/** Resolves when it is so. */
export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

import { readdir, readFile } from "node:fs/promises";

/** Every command line on the machine, as other users see it. */
export async function commandLines(): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const texts = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")));
  return texts.map((text) => text.replaceAll("\0", " ").trim());
}

/** True if the process handles SIGHUP, which Node itself leaves alone. */
export async function hearsSignals(pid: number): Promise<boolean> {
  const status = await readFile(`/proc/${pid}/status`, "utf8").catch(() => "");
  const caught = /^SigCgt:\s*([0-9a-f]+)$/m.exec(status)?.[1] ?? "0";
  return BigInt(`0x${caught}`) % 2n === 1n;
}

export async function until(isSo: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isSo())) await new Promise((resolve) => setTimeout(resolve, 20));
}

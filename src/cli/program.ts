import type { Process } from "./process.ts";

export async function run(process: Process, args: readonly string[]): Promise<number> {
  process.stderr.write(`error: nothing here yet: ${args.join(" ")}\n`);
  return 2;
}

import { VERSION } from "../runtime/version.ts";
import type { Process } from "./process.ts";

/** Runs one command line and gives its exit status. */
export async function main(process: Process): Promise<number> {
  const args = process.argv.slice(2);
  if (args.length === 1 && (args[0] === "--version" || args[0] === "-V")) {
    process.stdout.write(`${VERSION}\n`);
    return 0;
  }
  const { run } = await import("./program/run.ts");
  return run(process, args);
}

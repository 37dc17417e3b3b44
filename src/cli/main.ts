import { VERSION } from "../runtime/version.ts";
import type { Process } from "./process.ts";

/** Runs one command line and gives its exit status. What is asked most often loads nothing that it does not need. */
export async function main(process: Process): Promise<number> {
  const args = process.argv.slice(2);
  const [only] = args;
  if (args.length === 1 && (only === "--version" || only === "-V")) return say(process, `${VERSION}\n`);
  if (args.length === 0 || (args.length === 1 && (only === "--help" || only === "-h" || only === "help"))) {
    const { rootHelp } = await import("./program/root-help.ts");
    return say(process, rootHelp());
  }
  const { run } = await import("./program/run.ts");
  return run(process, args);
}

function say({ stdout }: Process, text: string): number {
  // A reader that went away is no failure.
  stdout.on("error", () => undefined);
  stdout.write(text);
  return 0;
}

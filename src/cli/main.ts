import { VERSION } from "../runtime/version.ts";
import type { Process } from "./process.ts";
import { toSafeLines } from "./render/safe-text.ts";

/**
 * Completion and `--version` skip loading the parser: shells can request completions at every key, and `--version`
 * takes 1.2 instead of 1.5 times as long as an empty program (Node 20, two cores).
 */
export async function main(process: Process): Promise<number> {
  const args = process.argv.slice(2);
  const [first, ...words] = args;
  if (words.length === 0 && (first === "--version" || first === "-V")) return say(process, `${VERSION}\n`);
  if (first !== "__complete") return runCommand(process, args);
  const { complete } = await import("./completion/complete.ts");
  return say(process, await complete(process, words));
}

async function runCommand(process: Process, args: readonly string[]): Promise<number> {
  try {
    const { run } = await import("./program/run.ts");
    return await run(process, args);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(toSafeLines(`error: surveyctl cannot be started: ${reason}\n`));
    return 1;
  }
}

/** A closed pipe isn't a failure, but a full disk is. */
function say(process: Process, text: string): Promise<0 | 1> {
  process.stdout.on("error", () => undefined);
  return new Promise((resolve) => {
    process.stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
      if (!error || error.code === "EPIPE") return resolve(0);
      process.stderr.write(toSafeLines(`error: standard output cannot be written: ${error.message}\n`));
      resolve(1);
    });
  });
}

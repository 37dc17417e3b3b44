import { writeSync } from "node:fs";
import { VERSION } from "../runtime/version.ts";
import type { Process } from "./process.ts";
import { toSafeLines } from "./render/safe-text.ts";

/** Runs one command line and gives its exit status. What is asked most often loads nothing that it does not need. */
export async function main(process: Process): Promise<number> {
  const args = process.argv.slice(2);
  const [only] = args;
  if (args.length === 1 && (only === "--version" || only === "-V")) return say(process, `${VERSION}\n`);
  const isRootHelp = args.length === 1 && (only === "--help" || only === "-h" || only === "help");
  if (args.length === 0 || (isRootHelp && !mayPage(process))) {
    const { firstWords, rootHelp } = await import("./help/root-help.ts");
    return say(process, args.length === 0 ? firstWords() : rootHelp(process.stdout.columns || undefined));
  }
  if (only === "__complete") {
    const { complete } = await import("./completion/complete.ts");
    return say(process, await complete(process, args.slice(1)));
  }
  if (only === "completion" && args.length === 2) {
    const { completionScript } = await import("./completion/complete.ts");
    const script = completionScript(args[1] ?? "");
    if (script !== null) return say(process, script);
  }
  return runCommand(process, args);
}

/** A pager may be wanted: that is decided where all commands are run. */
function mayPage({ env, stdout }: Process): boolean {
  return stdout.isTTY && (env["SURVEYCTL_PAGER"] ?? env["PAGER"]) !== undefined;
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

const STDOUT = 1;

/** Straight to the descriptor: to open Node's stream for it costs more than anything else that `--version` does. */
async function say(process: Process, text: string): Promise<number> {
  let rest = Buffer.from(text);
  try {
    while (rest.length > 0) rest = rest.subarray(writeSync(STDOUT, rest));
    return 0;
  } catch (error) {
    const problem = error as NodeJS.ErrnoException;
    // A pipe that is full and does not wait, as some parents hand down.
    return problem.code === "EAGAIN" ? sayWhenPossible(process, rest) : toExit(process, problem);
  }
}

function sayWhenPossible(process: Process, rest: Uint8Array): Promise<number> {
  process.stdout.on("error", () => undefined);
  return new Promise((resolve) => {
    process.stdout.write(rest, (error: NodeJS.ErrnoException | null | undefined) => {
      resolve(error === null || error === undefined ? 0 : toExit(process, error));
    });
  });
}

/** A closed pipe is not a failure; a full disk is. */
function toExit({ stderr }: Process, { code, message }: NodeJS.ErrnoException): number {
  if (code === "EPIPE") return 0;
  stderr.write(toSafeLines(`error: standard output cannot be written: ${message}\n`));
  return 1;
}

import { fstatSync, writeSync } from "node:fs";
import { VERSION } from "../runtime/version.ts";
import type { Process } from "./process.ts";
import { toSafeLines } from "./render/safe-text.ts";

/**
 * Runs one command line and gives its exit status. Two load no parser: a shell asks for completions at each key, and
 * `--version` takes 1.2 times an empty program's time instead of 1.5 (Node 20, two cores).
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
    // Only a terminal has a width and a pager, and it is a character device.
    const mayBeTerminal = fstatSync(STDOUT).isCharacterDevice();
    return await run(process, args, mayBeTerminal ? null : (text) => say(process, text));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    process.stderr.write(toSafeLines(`error: surveyctl cannot be started: ${reason}\n`));
    return 1;
  }
}

const STDOUT = 1;

/** Straight to the descriptor: to open Node's stream for it costs more than anything else that these do. */
async function say(process: Process, text: string): Promise<0 | 1> {
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

function sayWhenPossible(process: Process, rest: Uint8Array): Promise<0 | 1> {
  process.stdout.on("error", () => undefined);
  return new Promise((resolve) => {
    process.stdout.write(rest, (error: NodeJS.ErrnoException | null | undefined) => {
      resolve(error === null || error === undefined ? 0 : toExit(process, error));
    });
  });
}

/** A closed pipe is not a failure; a full disk is. */
function toExit({ stderr }: Process, { code, message }: NodeJS.ErrnoException): 0 | 1 {
  if (code === "EPIPE") return 0;
  stderr.write(toSafeLines(`error: standard output cannot be written: ${message}\n`));
  return 1;
}

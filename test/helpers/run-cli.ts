/** Runs the built program as a user would: a real process with an empty home. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isLong } from "./long.ts";

export const PROGRAM = path.join(import.meta.dirname, "../../bin/surveyctl.js");

/** What is tested in place of the built program on this Node: an installed one, or the single executable. */
const { SURVEYCTL_BIN } = process.env;
const COMMAND = SURVEYCTL_BIN === undefined ? [process.execPath, PROGRAM] : [SURVEYCTL_BIN];

/** True when each command is a process; otherwise most run inside the test's own. */
export const inProcesses = isLong || SURVEYCTL_BIN !== undefined;

/** For `env`: as if it were started a minute later, when what a killed process held is free. */
export const A_MINUTE_LATER = { NODE_OPTIONS: `--require ${path.join(import.meta.dirname, "minute-ahead.cjs")}` };
export const YEARS_AHEAD = { NODE_OPTIONS: `--require ${path.join(import.meta.dirname, "years-ahead.cjs")}` };

export interface RunOptions {
  readonly args: readonly string[];
  /** Added to an environment that holds PATH, HOME, TZ and a UTF-8 locale only. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the program reads; without it standard input is empty. */
  readonly stdin?: string | Uint8Array;
  readonly cwd?: string;
  /** A home directory to keep; without it an empty one is made and removed. */
  readonly home?: string;
  /** Runs in a pseudo-terminal of that width, where stdout and stderr are one and everything comes out of `stdout`. */
  readonly tty?: { readonly columns: number };
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcessWithoutNullStreams;
  readonly ended: Promise<Ended>;
  /** The first match in what stdout has said so far or will say; rejects when the program ends without it. */
  saying(pattern: RegExp): Promise<RegExpMatchArray>;
}

/** Runs one command line to its end. */
export async function runCli(options: RunOptions): Promise<Ended> {
  const home = options.home ?? (await mkdtemp(path.join(tmpdir(), "surveyctl-home-")));
  try {
    const running = startProgram({ ...options, home });
    running.child.stdin.end(options.stdin ?? "");
    return await running.ended;
  } finally {
    if (options.home === undefined) await rm(home, { recursive: true, force: true });
  }
}

/** Starts one command line; its standard input stays open. */
export function startProgram(options: RunOptions & { readonly home: string }): Running {
  const [command = "", ...args] = commandLine(options);
  return follow(
    spawn(command, args, { cwd: options.cwd ?? options.home, env: bareEnvironment(options.home, options.env) }),
  );
}

/** What a program may know of the machine that the tests run on. */
export function bareEnvironment(home: string, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home, TZ: "UTC", LANG: "C.UTF-8", TERM: "xterm-256color", ...extra };
}

function commandLine({ args, tty }: RunOptions): string[] {
  const plain = [...COMMAND, ...args];
  return tty === undefined ? plain : inTerminal(plain.map(shellQuote).join(" "), tty.columns);
}

/** The command that runs a shell command in a pseudo-terminal (`script` of util-linux). */
export function inTerminal(shellCommand: string, columns: number): string[] {
  return ["script", "--quiet", "--return", "--command", `stty cols ${columns} rows 40; ${shellCommand}`, "/dev/null"];
}

/** The program as words of a shell. */
export function shellProgram(): string {
  return COMMAND.map(shellQuote).join(" ");
}

function shellQuote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

export function follow(child: ChildProcessWithoutNullStreams): Running {
  const said = { stdout: "", stderr: "" };
  child.stdout.setEncoding("utf8").on("data", (text: string) => (said.stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (said.stderr += text));
  // A program that does not read its input to the end closes the pipe: no concern of the test.
  child.stdin.on("error", () => {});
  const ended = once(child, "close").then(([status, signal]): Ended => ({
    status: status as number | null,
    signal: signal as NodeJS.Signals | null,
    ...said,
  }));
  return { child, ended, saying: (pattern) => waitFor(pattern, child, said) };
}

function waitFor(
  pattern: RegExp,
  child: ChildProcessWithoutNullStreams,
  said: { stdout: string; stderr: string },
): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const match = pattern.exec(said.stdout);
      if (match !== null) resolve(match);
    };
    child.stdout.on("data", look);
    child.once("error", reject);
    child.once("close", (status) =>
      reject(
        new Error(`ended with ${String(status)} without saying ${String(pattern)}:\n${said.stdout}${said.stderr}`),
      ),
    );
    look();
  });
}

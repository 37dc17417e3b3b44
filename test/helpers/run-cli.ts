/** Runs the built program as a process with an empty home. */
import { spawn, type ChildProcessWithoutNullStreams } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { isLong } from "./long.ts";

export const PROGRAM = path.join(import.meta.dirname, "../../bin/surveyctl.js");

/** Set to test an installed program or the single executable. */
const { SURVEYCTL_BIN } = process.env;
const COMMAND = SURVEYCTL_BIN === undefined ? [process.execPath, PROGRAM] : [SURVEYCTL_BIN];

/** If true, each command is a process; otherwise most run in the test's own. */
export const inProcesses = isLong || SURVEYCTL_BIN !== undefined;

/** An environment with the clock a minute ahead, when a killed process's claims have expired. */
export const A_MINUTE_LATER = { NODE_OPTIONS: `--require ${path.join(import.meta.dirname, "minute-ahead.cjs")}` };
export const YEARS_AHEAD = { NODE_OPTIONS: `--require ${path.join(import.meta.dirname, "years-ahead.cjs")}` };

export interface RunOptions {
  readonly args: readonly string[];
  /** Added to PATH, HOME, TZ and a UTF-8 locale. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly cwd?: string;
  readonly home?: string;
  /** Runs in a pseudo-terminal of this width, where `stdout` gets everything. */
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
  /** Resolves with the first match in stdout. Rejects if the program ends without one. */
  saying(pattern: RegExp): Promise<RegExpMatchArray>;
}

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

export function startProgram(options: RunOptions & { readonly home: string }): Running {
  const [command = "", ...args] = commandLine(options);
  return follow(
    spawn(command, args, { cwd: options.cwd ?? options.home, env: bareEnvironment(options.home, options.env) }),
  );
}

export function bareEnvironment(home: string, extra: Readonly<Record<string, string>> = {}): Record<string, string> {
  return { PATH: process.env.PATH ?? "", HOME: home, TZ: "UTC", LANG: "C.UTF-8", TERM: "xterm-256color", ...extra };
}

function commandLine({ args, tty }: RunOptions): string[] {
  const plain = [...COMMAND, ...args];
  return tty === undefined ? plain : inTerminal(plain.map(shellQuote).join(" "), tty.columns);
}

export function inTerminal(shellCommand: string, columns: number): string[] {
  return ["script", "--quiet", "--return", "--command", `stty cols ${columns} rows 40; ${shellCommand}`, "/dev/null"];
}

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
  // Ignore the broken pipe of a program that doesn't read its input.
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

/**
 * A `surveyctl` that doesn't start Node: a shell script that has the test's own process run the command with the
 * script's arguments, environment and open files. Commands that need a process or a terminal still get one.
 */
import { spawn, spawnSync } from "node:child_process";
import { closeSync, constants, createReadStream, createWriteStream, openSync, readFileSync, writeSync } from "node:fs";
import { once } from "node:events";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { Socket } from "node:net";
import path from "node:path";
import { Readable, type Writable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { runInProcess, runWith } from "./in-process.ts";
import { shellProgram, type Ended } from "./run-cli.ts";

export interface Resident {
  close(): Promise<void>;
}

/** Writes `surveyctl` to `bin`. This process works in `work` until `close`, so only one can be open at a time. */
export async function openResident(bin: string, work: string): Promise<Resident> {
  const calls = path.join(bin, "calls");
  spawnSync("mkfifo", ["-m", "600", calls]);
  await writeFile(path.join(bin, "surveyctl"), script(calls, work), { mode: 0o755 });
  const before = process.cwd();
  process.chdir(work);
  const running = new Set<Promise<void>>();
  // Also open for writing, so that it never reaches its end.
  const fd = openSync(calls, constants.O_RDWR | constants.O_NONBLOCK);
  const incoming = new Socket({ fd, readable: true, writable: false }).setEncoding("utf8");
  let rest = "";
  incoming.on("data", (text: string) => {
    const lines = (rest + text).split("\n");
    rest = lines.pop() ?? "";
    for (const pid of lines) {
      const call = answer(pid, `${calls}.${pid}`).finally(() => running.delete(call));
      running.add(call);
    }
  });
  return {
    close: async () => {
      await Promise.all(running);
      incoming.destroy();
      process.chdir(before);
    },
  };
}

/** These need a real process for its start and end, signals or a terminal. The script below lists them too. */
const NEEDS_PROCESS = /^(?:-|help$|serve$|demo$|completion$|__complete$)/;
/** A word without shell expansion, or a quoted variable. */
const WORD = /(?<= )(?:'([^']*)'|"([^"$`\\!]*)"|"\$(\w+)"|([\w@%+=:,./-]+))(?= |$)/g;

/** The arguments of a line that is just one `surveyctl` call, otherwise null. */
export function argumentsOf(line: string, env: Readonly<Record<string, string>> = {}): string[] | null {
  if (!line.startsWith("surveyctl ") || line.replaceAll(WORD, "").trim() !== "surveyctl") return null;
  const words = [...line.matchAll(WORD)].map(
    ([, single, double, name, bare]) => single ?? double ?? (name === undefined ? bare : env[name]) ?? "",
  );
  return NEEDS_PROCESS.test(words[0] ?? "-") ? null : words;
}

function script(calls: string, work: string): string {
  return `#!/bin/sh
[ -z "$OWN_PROCESS" ] || exec ${shellProgram()} "$@"
case "$#:$1" in 0:*|1:-*|1:help|*:serve|*:demo|*:completion|*:__complete) exec ${shellProgram()} "$@";; esac
if [ "$PWD" != "${work}" ] || [ -t 0 ] || [ -t 1 ] || [ -t 2 ]; then exec ${shellProgram()} "$@"; fi
# The shell's own redirections come between these and their originals.
exec 3<&0 4>&1
mkfifo "${calls}.$$" && echo $$ > "${calls}" && read -r status < "${calls}.$$" && exit "$status"
exit 99
`;
}

async function answer(pid: string, reply: string): Promise<void> {
  const status = await perform(pid).catch((error: unknown) => {
    console.error(error);
    return 98;
  });
  for (;;) {
    try {
      const fd = openSync(reply, constants.O_WRONLY | constants.O_NONBLOCK);
      writeSync(fd, `${status}\n`);
      closeSync(fd);
      break;
    } catch (error) {
      // The script isn't reading yet, or is gone.
      if ((error as NodeJS.ErrnoException).code !== "ENXIO" || !isAlive(pid)) break;
      await sleep(2);
    }
  }
  await rm(reply, { force: true });
}

function isAlive(pid: string): boolean {
  try {
    return process.kill(Number(pid), 0);
  } catch {
    return false;
  }
}

async function perform(pid: string): Promise<number> {
  // Skip the shell and the script's path.
  const args = strings(`/proc/${pid}/cmdline`).slice(2);
  const given: Record<string, string> = Object.fromEntries(
    strings(`/proc/${pid}/environ`).map((one) => [one.slice(0, one.indexOf("=")), one.slice(one.indexOf("=") + 1)]),
  );
  const [stdout, stderr] = [output(pid, 4), output(pid, 2)];
  const { [SCREEN]: columns, ...env } = given;
  const terminal = columns === undefined ? { isTTY: false } : { isTTY: true, columns: Number(columns) };
  for (const stream of [stdout, stderr]) Object.assign(stream, terminal);
  const stdin = Object.assign(Readable.from(input(pid)), { isTTY: terminal.isTTY });
  try {
    return await runWith({ args, env, stdin, stdout, stderr });
  } finally {
    await Promise.all([stdout, stderr].map(ended));
  }
}

function strings(file: string): string[] {
  return readFileSync(file, "utf8").replace(/\0$/, "").split("\0");
}

/** Opened on first read, because most commands don't read stdin. */
async function* input(pid: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(`/proc/${pid}/fd/3`) as AsyncIterable<Uint8Array>;
}

function output(pid: string, fd: number): Writable {
  const flags = constants.O_WRONLY | constants.O_APPEND;
  const stream = createWriteStream("", { fd: openSync(`/proc/${pid}/fd/${fd}`, flags) });
  stream.on("error", () => undefined);
  return stream;
}

function ended(stream: Writable): Promise<void> {
  return new Promise((resolve) => {
    if (stream.closed) resolve();
    else stream.once("close", resolve).end();
  });
}

interface ShellOptions {
  readonly folder: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin: string;
  readonly columns?: number;
}

/** Passes the terminal width to the resident's commands, which don't see the variable. */
const SCREEN = "RESIDENT_COLUMNS";

/** Like `runShell`, but skips the shell if the line doesn't need one. Requires a resident in `cwd`. */
export async function runLine(text: string, options: ShellOptions): Promise<Ended> {
  const args = argumentsOf(text, options.env);
  if (args === null) return runShell(`set -o pipefail\n${text}`, options);
  const { env, stdin, columns } = options;
  const finished = await runInProcess({ args, env, stdin, ...(columns !== undefined && { columns }) });
  const { status, stdout, stderr, screen } = finished;
  return { status, signal: null, ...(columns === undefined ? { stdout, stderr } : { stdout: screen, stderr: "" }) };
}

/** Runs a line of bash with files as its streams, because a resident opens them again. */
export async function runShell(text: string, { columns, ...options }: ShellOptions): Promise<Ended> {
  const { folder, cwd, stdin } = options;
  const env = { ...options.env, ...(columns !== undefined && { [SCREEN]: String(columns) }) };
  const own = await mkdtemp(path.join(folder, "streams-"));
  const at = (name: string): string => path.join(own, name);
  await writeFile(at("stdin"), stdin);
  const files = [
    await open(at("stdin"), "r"),
    await open(at("stdout"), "a"),
    await open(at(columns === undefined ? "stderr" : "stdout"), "a"),
  ];
  if (columns !== undefined) await writeFile(at("stderr"), "");
  const child = spawn("bash", ["-c", text], { cwd, env, stdio: files.map(({ fd }) => fd) });
  const [status, signal] = (await once(child, "close")) as [number | null, NodeJS.Signals | null];
  for (const file of files) await file.close();
  return { status, signal, stdout: await readFile(at("stdout"), "utf8"), stderr: await readFile(at("stderr"), "utf8") };
}

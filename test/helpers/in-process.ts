/** Runs the built program in the test's own process, which takes milliseconds. */
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { main } from "../../src/cli/main.ts";
import type { Process } from "../../src/cli/process.ts";
import { bareEnvironment, inProcesses, runCli, startProgram, type Ended } from "./run-cli.ts";

export interface InProcessOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  readonly columns?: number;
}

export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly screen: string;
}

/** The part of `Running` that doesn't need a process. */
export interface RunningInside {
  readonly child: { kill(name: "SIGINT" | "SIGTERM"): void };
  readonly ended: Promise<Ended>;
  /** Resolves with the first match in stdout. Rejects if the program ends without one. */
  saying(pattern: RegExp): Promise<RegExpMatchArray>;
}

export interface InsideOptions {
  readonly args: readonly string[];
  readonly home: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
}

interface PlacedOptions extends InsideOptions {
  /** Changes this process's directory, so only one such command can run at a time. */
  readonly cwd?: string;
}

const BUILT = pathToFileURL(path.join(import.meta.dirname, "../../dist/main.js")).href;

/** Like `runCli`, but in this process, except in the long run. */
export async function runInside({ cwd, ...options }: PlacedOptions): Promise<Ended> {
  if (inProcesses) return runCli({ ...options, ...(cwd !== undefined && { cwd }) });
  if (cwd === undefined) return startInside(options).ended;
  const before = process.cwd();
  process.chdir(cwd);
  try {
    return await startInside(options).ended;
  } finally {
    process.chdir(before);
  }
}

export function startInside({ home, env, ...options }: InsideOptions): RunningInside {
  if (inProcesses) {
    const running = startProgram({ ...options, home, ...(env && { env }) });
    running.child.stdin.end();
    return running;
  }
  const { listeners, finished, stdout } = start({ ...options, env: bareEnvironment(home, env) });
  const ended = finished.then(({ status, ...said }) => ({
    status,
    signal: null,
    stdout: said.stdout,
    stderr: said.stderr,
  }));
  const kill = (name: string): void => {
    for (const listener of listeners) listener(name);
  };
  return { child: { kill }, ended, saying: (pattern) => waitFor(pattern, stdout, finished) };
}

/** Rejects with the error that would have crashed the program. */
export function runInProcess(options: InProcessOptions): Promise<Finished> {
  return start(options).finished;
}

interface Begun {
  readonly finished: Promise<Finished>;
  readonly listeners: ReadonlySet<(name: string) => void>;
  readonly stdout: Collector;
}

function start({ args, env = {}, stdin = "", columns }: InProcessOptions): Begun {
  const screen: Buffer[] = [];
  const [stdout, stderr] = [collector(columns, screen), collector(columns, screen)];
  const listeners = new Set<(name: string) => void>();
  const isTTY = columns !== undefined;
  const status = runWith({
    args,
    env: { TZ: "UTC", LANG: "C.UTF-8", ...env },
    stdin: Object.assign(Readable.from(stdin.length === 0 ? [] : [Buffer.from(stdin)]), { isTTY }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    listeners,
  });
  const finished = status.then((code) => ({
    status: code,
    stdout: stdout.text(),
    stderr: stderr.text(),
    screen: textOf(screen),
  }));
  return { finished, listeners, stdout };
}

function waitFor(pattern: RegExp, { stream, text }: Collector, finished: Promise<Finished>): Promise<RegExpMatchArray> {
  return new Promise((resolve, reject) => {
    const look = (): void => {
      const match = pattern.exec(text());
      if (match !== null) resolve(match);
    };
    stream.on("said", look);
    finished.then(
      (end) => reject(new Error(`ended with ${end.status} without saying ${String(pattern)}:\n${end.screen}`)),
      reject,
    );
    look();
  });
}

export interface InnerWorld {
  readonly args: readonly string[];
  readonly env: Record<string, string>;
  readonly stdin: Readable;
  readonly stdout: Writable;
  readonly stderr: Writable;
  readonly listeners?: Set<(name: string) => void>;
}

export async function runWith({ args, listeners = new Set(), ...given }: InnerWorld): Promise<number> {
  const built = (await import(BUILT)) as { readonly main: typeof main };
  const world = {
    argv: ["node", "surveyctl", ...args],
    ...given,
    on: (event: string, listener: (name: string) => void) => {
      if (event === "SIGTERM") listeners.add(listener);
      return world;
    },
    off: (_: string, listener: (name: string) => void) => {
      listeners.delete(listener);
      return world;
    },
    kill: () => true,
    pid: process.pid,
    platform: process.platform,
    cwd: () => process.cwd(),
  };
  return await built.main(world as unknown as Process);
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}

interface Collector {
  readonly stream: Writable;
  readonly text: () => string;
}

function collector(columns: number | undefined, screen: Buffer[]): Collector {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      screen.push(chunk);
      stream.emit("said");
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: columns !== undefined, columns: columns ?? 80 }),
    text: () => textOf(chunks),
  };
}

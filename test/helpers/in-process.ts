/** Runs the built program inside the test's own process, where a run costs milliseconds: streams and environment are given. */
import path from "node:path";
import { Readable, Writable } from "node:stream";
import { pathToFileURL } from "node:url";
import type { run } from "../../src/cli/program/run.ts";
import type { Process } from "../../src/cli/process.ts";

export interface InProcessOptions {
  readonly args: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Makes all three streams terminals of that width. */
  readonly columns?: number;
}

export interface Finished {
  readonly status: number;
  readonly stdout: string;
  readonly stderr: string;
  /** Both streams as they came, as one terminal shows them. */
  readonly screen: string;
}

const BUILT = pathToFileURL(path.join(import.meta.dirname, "../../dist/run.js")).href;

/** One command line to its end; rejects with what the program itself would have died of. */
export async function runInProcess({ args, env = {}, stdin = "", columns }: InProcessOptions): Promise<Finished> {
  const built = (await import(BUILT)) as { readonly run: typeof run };
  const screen: Buffer[] = [];
  const [stdout, stderr] = [collector(columns, screen), collector(columns, screen)];
  const world = {
    argv: ["node", "surveyctl", ...args],
    env: { TZ: "UTC", LANG: "C.UTF-8", ...env },
    stdin: Object.assign(Readable.from(stdin === "" ? [] : [Buffer.from(stdin)]), { isTTY: columns !== undefined }),
    stdout: stdout.stream,
    stderr: stderr.stream,
    on: () => world,
    off: () => world,
    kill: () => true,
    pid: process.pid,
    platform: process.platform,
    cwd: () => process.cwd(),
  };
  const status = await built.run(world as unknown as Process, args);
  return { status, stdout: stdout.text(), stderr: stderr.text(), screen: textOf(screen) };
}

function textOf(chunks: readonly Buffer[]): string {
  return Buffer.concat(chunks).toString("utf8");
}

function collector(columns: number | undefined, screen: Buffer[]): { stream: Writable; text: () => string } {
  const chunks: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      chunks.push(chunk);
      screen.push(chunk);
      done();
    },
  });
  return {
    stream: Object.assign(stream, { isTTY: columns !== undefined, columns: columns ?? 80 }),
    text: () => textOf(chunks),
  };
}

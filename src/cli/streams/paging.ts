import type { ChildProcessByStdio } from "node:child_process";
import type { Writable } from "node:stream";
import { UsageError } from "../errors/usage-error.ts";
import { ClosedPipeError, type Streams } from "./streams.ts";

function pagerOf(env: Environment): string | null {
  const command = [env["SURVEYCTL_PAGER"], env["PAGER"]]
    .find((text) => text !== undefined && text.trim() !== "")
    ?.trim();
  return command === undefined || command === "cat" ? null : command;
}

/**
 * Starts the pager with the first output, and holds back stderr until the pager ends. Quitting it early is like closing
 * a pipe. Throws UsageError if the pager can't be run.
 */
export async function withPager<Result>(
  streams: Streams,
  env: Environment,
  work: (streams: Streams) => Promise<Result>,
): Promise<Result> {
  const command = streams.out.isTTY ? pagerOf(env) : null;
  if (command === null) return work(streams);
  const { spawn } = await import("node:child_process");
  const pager = createPager(command, env, spawn);
  const held: (string | Uint8Array)[] = [];
  const { out, err } = streams;
  const paged: Streams = {
    in: streams.in,
    out: { isTTY: true, columns: out.columns, write: (text) => pager.write(text) },
    err: { isTTY: err.isTTY, columns: err.columns, write: async (text) => void held.push(text) },
  };
  try {
    return await work(paged);
  } finally {
    await pager.close();
    for (const text of held) await err.write(text);
  }
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Enables colors, and lets the pager exit if the text fits on one screen. */
const DEFAULTS = { LESS: "FRX", LV: "-c" };
const CANNOT_RUN = new Set([126, 127]);

function createPager(command: string, env: Environment, spawn: typeof import("node:child_process").spawn) {
  let running: {
    readonly child: ChildProcessByStdio<Writable, null, null>;
    readonly ended: Promise<number | null>;
  } | null = null;
  const start = (): NonNullable<typeof running> => {
    // Keeps the API key out of the pager's environment.
    const { SURVEYCTL_API_KEY: _key, ...known } = env;
    const child = spawn(command, {
      shell: true,
      stdio: ["pipe", "inherit", "inherit"],
      env: { ...DEFAULTS, ...known },
    });
    child.stdin.on("error", () => undefined);
    const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
    return { child, ended };
  };
  return {
    write(text: string | Uint8Array): Promise<void> {
      running ??= start();
      const { stdin } = running.child;
      return new Promise((resolve, reject) => {
        stdin.write(text, (error) => (error ? reject(new ClosedPipeError()) : resolve()));
      });
    },
    async close(): Promise<void> {
      if (running === null) return;
      running.child.stdin.end();
      const status = await running.ended;
      if (status !== null && CANNOT_RUN.has(status))
        throw new UsageError(`the pager ${JSON.stringify(command)} cannot be run`, {
          hint: "SURVEYCTL_PAGER=cat shows everything at once",
        });
    },
  };
}

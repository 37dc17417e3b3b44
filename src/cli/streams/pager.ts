import { spawn, type ChildProcessByStdio } from "node:child_process";
import type { Writable } from "node:stream";
import { UsageError } from "../errors/usage-error.ts";
import { ClosedPipeError } from "./closed-pipe-error.ts";
import type { Output } from "./streams.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** How `less` and `lv` are to behave where nobody has said so: colours, and no paging of what fits on the screen. */
const HABITS = { LESS: "FRX", LV: "-c" };
/** What a shell says of a command that it cannot run. */
const CANNOT_RUN = new Set([126, 127]);

export interface Pager {
  write: Output["write"];
  /** Resolves when the reader has left it. */
  close(): Promise<void>;
}

/** A shell command that reads what is written; it starts with the first text. */
export function createPager(command: string, env: Environment): Pager {
  let running: {
    readonly child: ChildProcessByStdio<Writable, null, null>;
    readonly ended: Promise<number | null>;
  } | null = null;
  const start = (): NonNullable<typeof running> => {
    // It has no business with the key.
    const { SURVEYCTL_API_KEY: _key, ...known } = env;
    const child = spawn(command, { shell: true, stdio: ["pipe", "inherit", "inherit"], env: { ...HABITS, ...known } });
    child.stdin.on("error", () => undefined);
    const ended = new Promise<number | null>((resolve, reject) => child.on("error", reject).on("close", resolve));
    return { child, ended };
  };
  return {
    write(text) {
      running ??= start();
      const { stdin } = running.child;
      return new Promise((resolve, reject) => {
        stdin.write(text, (error) => (error ? reject(new ClosedPipeError()) : resolve()));
      });
    },
    async close() {
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

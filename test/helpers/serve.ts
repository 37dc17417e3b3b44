/** `surveyctl serve` on a free port with its own data file or test database. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runInside, startInside } from "./in-process.ts";
import { databaseOf } from "./postgres.ts";
import { inProcesses, runCli, startProgram, type Ended } from "./run-cli.ts";

export interface Served {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataFile: string;
  readonly place: readonly [flag: string, value: string];
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  /** With `cwd`, only one command can run at a time. */
  run(
    args: readonly string[],
    options?: { readonly stdin?: string; readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<Ended>;
  stop(): Promise<Ended>;
}

export interface ServedProcess extends Served {
  readonly pid: number;
}

export interface ServeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly apiKey?: string;
}

/** Runs the server and its commands in the test's own process, except in the long run. */
export async function startServe(options: ServeOptions = {}): Promise<Served> {
  if (inProcesses) return startServeProcess(options);
  const { args, giveBack, ...about } = await prepare(options);
  const { folder, apiKey } = about;
  const running = startInside({ args, home: folder, env: { SURVEYCTL_API_KEY: apiKey, ...options.env } });
  const [, baseUrl = ""] = await running.saying(LISTENING);
  const env = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: apiKey };
  return {
    ...about,
    baseUrl,
    env,
    run: async (commandArgs, more = {}) => {
      const home = await mkdtemp(path.join(folder, "home-"));
      return runInside({ args: commandArgs, home, ...more, env: { ...env, ...more.env } });
    },
    async stop() {
      running.child.kill("SIGTERM");
      const ended = await running.ended;
      giveBack();
      await rm(folder, { recursive: true, force: true });
      return ended;
    },
  };
}

export async function startServeProcess(options: ServeOptions = {}): Promise<ServedProcess> {
  const { args, giveBack, ...about } = await prepare(options);
  const { folder, apiKey } = about;
  const running = startProgram({ args, home: folder, env: { SURVEYCTL_API_KEY: apiKey, ...options.env } });
  const [, baseUrl = ""] = await running.saying(LISTENING);
  const env = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: apiKey };
  return {
    ...about,
    baseUrl,
    env,
    pid: running.child.pid ?? 0,
    run: (commandArgs, more = {}) => runCli({ args: commandArgs, ...more, env: { ...env, ...more.env } }),
    async stop() {
      running.child.kill("SIGTERM");
      const ended = await running.ended;
      giveBack();
      await rm(folder, { recursive: true, force: true });
      return ended;
    },
  };
}

const LISTENING = /^listening on (http\S+)$/m;

async function prepare({ args = [], apiKey = "test-key-of-the-service" }: ServeOptions): Promise<{
  readonly folder: string;
  readonly dataFile: string;
  readonly place: readonly [flag: string, value: string];
  readonly apiKey: string;
  readonly args: readonly string[];
  readonly giveBack: () => void;
}> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-serve-"));
  const dataFile = path.join(folder, "survey.db");
  const database = await databaseOf(null);
  const place = database === null ? (["--data", dataFile] as const) : (["--database", database.url] as const);
  // A database has no folder for the outbox.
  const outbox = database === null ? [] : ["--outbox", path.join(folder, "outbox")];
  return {
    folder,
    dataFile,
    place,
    apiKey,
    args: ["serve", ...place, ...outbox, "--port", "0", ...args],
    giveBack: database?.giveBack ?? (() => undefined),
  };
}

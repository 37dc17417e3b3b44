/** A real `surveyctl serve` on a free port over a data file of its own. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { runCli, startProgram, type Ended } from "./run-cli.ts";

export interface Served {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataFile: string;
  /** Removed by `stop`; the place for a test's own files. */
  readonly folder: string;
  /** What a command needs to reach it. */
  readonly env: Readonly<Record<string, string>>;
  readonly pid: number;
  /** Runs a command against it. */
  run(
    args: readonly string[],
    options?: { readonly stdin?: string; readonly cwd?: string; readonly env?: Readonly<Record<string, string>> },
  ): Promise<Ended>;
  /** SIGTERM, the program's end, and no files left. */
  stop(): Promise<Ended>;
}

export interface ServeOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly apiKey?: string;
}

export async function startServe(options: ServeOptions = {}): Promise<Served> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-serve-"));
  const dataFile = path.join(folder, "survey.db");
  const apiKey = options.apiKey ?? "test-key-of-the-service";
  const args = ["serve", "--data", dataFile, "--port", "0", ...(options.args ?? [])];
  const running = startProgram({ args, home: folder, env: { SURVEYCTL_API_KEY: apiKey, ...options.env } });
  const [, baseUrl = ""] = await running.saying(/^listening on (http\S+)$/m);
  const env = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: apiKey };
  return {
    baseUrl,
    apiKey,
    dataFile,
    folder,
    env,
    pid: running.child.pid ?? 0,
    run: (commandArgs, more = {}) => runCli({ args: commandArgs, ...more, env: { ...env, ...more.env } }),
    async stop() {
      running.child.kill("SIGTERM");
      const ended = await running.ended;
      await rm(folder, { recursive: true, force: true });
      return ended;
    },
  };
}

import path from "node:path";
import { isSea } from "node:sea";
import { type ChildProcess, spawn } from "node:child_process";
import { mkdtemp, open, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { onAbort } from "../../../runtime/on-abort.ts";
import { executable } from "../../../runtime/files/processes.ts";
import type { Deps } from "../../kit/deps.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { toShellWord } from "../../render/safe-text.ts";
import { readDemoCsv } from "./answers.ts";
import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface Stage {
  readonly folder: string;
  readonly csv: string;
  readonly file: (name: string) => string;
  readonly run: (words: readonly string[]) => Promise<void>;
  /** Starts a server, and returns its first line of output and its connection. */
  readonly serve: (words: readonly string[]) => Promise<{ readonly line: string; readonly connection: DemoConnection }>;
  readonly close: () => Promise<void>;
  readonly discard: () => Promise<void>;
}

const KEY_BYTES = 24;

export async function openStage(deps: Deps): Promise<Stage> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-demo-"));
  const file = (name: string): string => path.join(folder, name);
  const discard = (): Promise<void> => rm(folder, { recursive: true, force: true });
  const [program, ...flags] = programLine();
  const environment = childEnvironment(deps, file("survey.db"));
  const start = (words: readonly string[], stdio: (number | "ignore" | "pipe")[], detached: boolean): ChildProcess =>
    spawn(program, [...flags, ...words], { cwd: folder, env: environment, stdio, detached });
  const state: { server: ChildProcess | null } = { server: null };
  try {
    const csv = await readDemoCsv();
    await writeFile(file("customers.csv"), csv);
    return {
      folder,
      csv,
      file,
      discard,
      // Uses a separate process group, so that Ctrl-C reaches only the demo, which passes it on.
      run: (words) => finish(deps, start(words, ["ignore", STDOUT, STDOUT], true), words),
      serve: async (words) => {
        const log = await open(file("serve.log"), "w", 0o600);
        state.server = start(words, ["ignore", "pipe", log.fd], false);
        await log.close();
        const line = await firstLine(state.server, file("serve.log"));
        environment["SURVEYCTL_BASE_URL"] = line.replace(/^listening on /, "");
        const connection = {
          baseUrl: environment["SURVEYCTL_BASE_URL"],
          apiKey: environment["SURVEYCTL_API_KEY"] ?? "",
          dataFile: file("survey.db"),
        };
        await writeFile(file("connection.sh"), formatConnectionFile(connection, [program, ...flags]), { mode: 0o600 });
        return { line, connection };
      },
      close: async () => {
        if (state.server !== null) await stop(state.server);
      },
    };
  } catch (error) {
    await discard();
    throw error;
  }
}

const STDOUT = 1;

function childEnvironment({ env, options, random }: Deps, dataFile: string): Record<string, string> {
  const kept = Object.entries(env).filter(
    ([name]) => !/^SURVEYCTL_|^(?:https?|all)_proxy$/i.test(name) && name !== "FORCE_COLOR",
  );
  return {
    ...(Object.fromEntries(kept) as Record<string, string>),
    SURVEYCTL_API_KEY: random.token(KEY_BYTES),
    SURVEYCTL_DATA: dataFile,
    SURVEYCTL_PAGER: "cat",
    ...(options.color ? { FORCE_COLOR: "1" } : { NO_COLOR: "1" }),
  };
}

async function firstLine(server: ChildProcess, log: string): Promise<string> {
  let said = "";
  for await (const text of server.stdout ?? []) {
    said += String(text);
    const [line, rest] = said.split("\n", 2);
    if (rest !== undefined) return line ?? "";
  }
  const words = (await readFile(log, "utf8")).replace(/^error: /, "").trim();
  throw new DataFileError("not_started", `the server did not start: ${words}`);
}

async function finish({ signal }: Deps, child: ChildProcess, words: readonly string[]): Promise<void> {
  const release = onAbort(signal, () => void child.kill("SIGKILL"));
  const status = await ended(child);
  release();
  signal.throwIfAborted();
  if (status !== 0) throw new Error(`surveyctl ${words.join(" ")} ended with ${status ?? "a signal"}`);
}

async function stop(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  server.kill("SIGTERM");
  await ended(server);
}

function ended(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve, reject) => child.once("error", reject).once("exit", resolve));
}

export interface DemoConnection {
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly dataFile: string;
}

/** A shell script to source. It defines the program as a function if it isn't installed. */
function formatConnectionFile({ baseUrl, apiKey, dataFile }: DemoConnection, program: readonly string[]): string {
  const variables = { SURVEYCTL_BASE_URL: baseUrl, SURVEYCTL_API_KEY: apiKey, SURVEYCTL_DATA: dataFile };
  const exports = Object.entries(variables).map(([name, value]) => `export ${name}=${toShellWord(value)}`);
  const words = program.map(toShellWord).join(" ");
  return [...exports, `command -v surveyctl >/dev/null || surveyctl() { ${words} "$@"; }`, ""].join("\n");
}

function programLine(): readonly [program: string, ...flags: string[]] {
  const [node, flags] = executable();
  if (isSea()) return [node];
  const file = findProgram();
  if (file === null) throw new Error("bin/surveyctl.js is missing next to this module");
  return [node, ...flags, file];
}

function findProgram(): string | null {
  const own = path.dirname(fileURLToPath(import.meta.url));
  for (let folder = own; folder !== path.dirname(folder); folder = path.dirname(folder)) {
    const program = path.join(folder, "bin/surveyctl.js");
    if (existsSync(program)) return program;
  }
  return null;
}

/** What each of the shortest command lines loads: whatever is added here is paid for at every start. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { json, startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import { bareEnvironment, PROGRAM } from "../helpers/run-cli.ts";

const root = path.join(import.meta.dirname, "../..");
const recorder = path.join(import.meta.dirname, "../helpers/record-loads.cjs");
const sources = JSON.parse(readFileSync(path.join(root, "dist/modules.json"), "utf8")) as Record<string, string[]>;

/** Parts of Node that take a millisecond or more to load; the rest differs between versions of Node. */
const SLOW_PARTS = new Set([
  "child_process",
  "crypto",
  "http",
  "http2",
  "https",
  "perf_hooks",
  "readline",
  "sqlite",
  "tls",
  "zlib",
]);

let home = "";
let empty = "";
/** What Node loads by itself. */
const idle: { loads: string[] | null } = { loads: null };
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-start-"));
  empty = path.join(home, "empty.mjs");
  await writeFile(empty, "");
});
afterAll(() => rm(home, { recursive: true, force: true }));

/** Every line that the recorder wrote: URLs, and `builtin:` with a name. */
async function loadsOf(argv: readonly string[], env: Record<string, string> = {}): Promise<string[]> {
  const file = path.join(home, "loads.txt");
  await writeFile(file, "");
  const recorded = bareEnvironment(home, { ...env, RECORD_LOADS: file });
  const { stderr } = await promisify(execFile)(process.execPath, ["--require", recorder, ...argv], { env: recorded });
  expect(stderr).toBe("");
  return (await readFile(file, "utf8")).trim().split("\n");
}

/** By kind, so that a new file beside old ones changes nothing here. */
async function describeLoads(args: readonly string[], env: Record<string, string> = {}): Promise<string> {
  const loads = await loadsOf([PROGRAM, ...args], env);
  idle.loads ??= await loadsOf([empty]);
  const { loads: unavoidable } = idle;
  const files = loads.map((line) => /\/dist\/([^/]+\.js)$/.exec(line)?.[1]).filter((file) => file !== undefined);
  const modules = files.flatMap((file) => sources[file] ?? []);
  const packages = modules.map((module) => /^node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)?.[1] ?? "");
  const folders = modules.filter((module) => module.startsWith("src/")).map((module) => path.dirname(module));
  const parts = loads.filter((line) => !unavoidable.includes(line)).map((line) => line.replace("builtin:", ""));
  const rows: readonly (readonly [string, readonly string[]])[] = [
    ["packages", packages],
    ["parts of Node", parts.filter((part) => SLOW_PARTS.has(part))],
    ["sources", folders],
  ];
  return rows.map(([title, values]) => `${title}\n${listed(values)}`).join("");
}

function listed(values: readonly string[]): string {
  const once = [...new Set(values)].filter((value) => value !== "").toSorted();
  return once.map((value) => `  ${value}\n`).join("");
}

it.each([["--version"], ["--help"], ["__complete people =l"], ["people --help"], ["people list"]])(
  "when %s is run, then it loads what is written down and no more",
  async (line) => {
    const server = await startMisbehavingServer({ script: [json([])] });
    const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "key" };
    const loads = await describeLoads(line.split(" "), env);
    await server.stop();
    await expect(loads).toMatchFileSnapshot(
      `../golden/start/${line.replaceAll(/\W+/g, "-").replaceAll(/^-|-$/g, "")}.txt`,
    );
  },
);

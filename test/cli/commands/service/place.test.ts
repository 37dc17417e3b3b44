import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runInside } from "../../../helpers/in-process.ts";
import type { Ended } from "../../../helpers/run-cli.ts";

let home = "";
let local = "";
let other = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-place-"));
  local = path.join(home, ".local/share/surveyctl/local.db");
  other = path.join(home, "other.db");
  await run(["people", "list", "--profile", "local"]);
  const backup = path.join(home, "copy.db");
  await run(["service", "backup", backup, "--data", local]);
  await run(["service", "restore", backup, "--data", other]);
});
afterAll(() => rm(home, { recursive: true, force: true }));

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return runInside({ args, home, env });
}

function place(text: string): string {
  return text.replace("{local}", local).replace("{other}", other);
}

const REFUSED = "error: this command works on a data file or database on this machine; pass --data\n";
const URL = "http://127.0.0.1:9";

it.each<[flags: string, env: Record<string, string>, hint: string]>([
  ["", { SURVEYCTL_PROFILE: "" }, "--profile local works on {local}"],
  ["--profile prod", {}, "--profile names a service to call over HTTP"],
  ["--profile prod --data {other}", {}, "--profile names a service to call over HTTP"],
  [`--base-url ${URL}`, {}, "--base-url names a service to call over HTTP"],
  [`--base-url ${URL} --data {other}`, {}, "--base-url names a service to call over HTTP"],
  [`--base-url ${URL}`, { SURVEYCTL_DATA: "{other}" }, "--base-url names a service to call over HTTP"],
  ["", { SURVEYCTL_PROFILE: "prod" }, "SURVEYCTL_PROFILE names a service to call over HTTP"],
  ["", { SURVEYCTL_BASE_URL: URL }, "SURVEYCTL_BASE_URL names a service to call over HTTP"],
])("when a local verb is told %j with %j, then it exits 2 and changes nothing", async (flags, env, hint) => {
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, place(value)]));
  const words = flags === "" ? [] : place(flags).split(" ");
  const before = [await throttleOf(local), await throttleOf(other)];
  const ended = await run(["service", "vacuum", ...words], given);
  expect(ended).toEqual({ status: 2, signal: null, stdout: "", stderr: `${REFUSED}hint: ${place(hint)}\n` });
  expect([await throttleOf(local), await throttleOf(other)]).toEqual(before);
});

it("a local verb that needs no place refuses an exported profile, but not next to an address", async () => {
  const env = { SURVEYCTL_PROFILE: "prod" };
  const hint = "hint: SURVEYCTL_PROFILE names a service to call over HTTP\n";
  for (const words of [["health"], ["delivery", "doctor", "--offline"]])
    expect((await run(["service", ...words], env)).stderr).toBe(REFUSED + hint);
  expect((await run(["service", "health", "--url", URL], env)).status).toBe(1);
});

const hint = (source: string): string => `hint: ${source} names a service to call over HTTP\n`;

it("serve refuses a profile and an address, and opens nothing", async () => {
  const here = ["serve", "--port", "0", "--must-exist"];
  expect((await run([...here, "--profile", "prod"])).stderr).toBe(REFUSED + hint("--profile"));
  expect((await run([...here, "--base-url", URL])).stderr).toBe(REFUSED + hint("--base-url"));
  expect((await run(here, { SURVEYCTL_PROFILE: "prod" })).stderr).toBe(REFUSED + hint("SURVEYCTL_PROFILE"));
});

async function throttleOf(file: string): Promise<string> {
  return (await run(["service", "throttle", "--data", file, "--json"])).stdout;
}

it("when --profile local stands beside --data, then one of them is left to choose", async () => {
  const ended = await run(["service", "throttle", "7d", "--profile", "local", "--data", other]);
  const message = "error: --profile cannot be used with --data, --database or --database-file\n";
  expect(ended).toEqual({ status: 2, signal: null, stdout: "", stderr: message });
});

it.each<[flags: string, env: Record<string, string>, file: string, stderr: string]>([
  ["--data {other}", { SURVEYCTL_BASE_URL: URL, SURVEYCTL_PROFILE: "prod" }, "{other}", ""],
  ["", { SURVEYCTL_DATA: "{other}", SURVEYCTL_BASE_URL: URL }, "{other}", ""],
  ["--profile local", {}, "{local}", "note: using {local}\n"],
  ["--profile local", { SURVEYCTL_BASE_URL: URL }, "{local}", "note: using {local}\n"],
  ["--profile local", { SURVEYCTL_DATA: "{other}" }, "{local}", "note: using {local}\n"],
  ["", { SURVEYCTL_PROFILE: "local" }, "{local}", "note: using {local}\n"],
  ["--profile local -q", {}, "{local}", "note: using {local}\n"],
])("when service is told %j with %j, then it works on %s", async (flags, env, file, stderr) => {
  const given = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, place(value)]));
  for (const one of [local, other]) await run(["service", "throttle", "30d", "--data", one]);
  const ended = await run(
    ["service", "throttle", "7d", "--json", ...(flags === "" ? [] : place(flags).split(" "))],
    given,
  );
  const told = place(stderr).trim();
  expect(ended).toEqual({
    status: 0,
    signal: null,
    stdout: '{"throttle":604800}\n',
    stderr: told === "" ? "" : `${JSON.stringify({ note: told.replace("note: ", "") })}\n`,
  });
  expect(await throttleOf(place(file))).toBe('{"throttle":604800}\n');
  expect(await throttleOf(place(file) === local ? other : local)).toBe('{"throttle":2592000}\n');
});

it("when a command only shows, then it names the file unless it is told to be quiet", async () => {
  const list = ["service", "project", "list", "--profile", "local", "--columns", "name"];
  expect((await run(list)).stderr).toBe(`note: using ${local}\n`);
  expect((await run([...list, "-q"])).stderr).toBe("");
  expect((await run(["service", "throttle", "--profile", "local", "-q"])).stderr).toBe("");
});

it("when a removal of the profile local is confirmed by --yes, then the file is named once, first, -q or not", async () => {
  for (const quiet of [[], ["-q"]]) {
    const added = await run([
      "service",
      "trend",
      "add",
      "Pro",
      "--where",
      "plan=pro",
      "--data",
      local,
      "--columns",
      "id",
    ]);
    const id = added.stdout.trim();
    const ended = await run(["service", "trend", "remove", id, "--yes", "--profile", "local", ...quiet]);
    const done = quiet.length === 0 ? `Removed trend ${id}.\n` : "";
    expect([ended.status, ended.stderr]).toEqual([0, `note: using ${local}\n${done}`]);
  }
});

it("when a backup of a database is tried with --dry-run, then it is refused before the database is looked for", async () => {
  const given = ["--database", "postgres://127.0.0.1:9/surveys", "--dry-run"];
  const ended = await run(["service", "backup", path.join(home, "dry.db"), ...given]);
  expect([ended.status, ended.stderr]).toEqual([
    2,
    "error: --dry-run: service commands send no requests that could be shown\n",
  ]);
});

/** Uses separate processes, because the server prints its key to the terminal. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runInside } from "../../../helpers/in-process.ts";
import { startProgram, type Ended, type Running } from "../../../helpers/run-cli.ts";

let home = "";
const running: Running[] = [];
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-login-"));
});
afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map(({ ended }) => ended));
  // A server started in a terminal ends shortly after the terminal.
  await rm(home, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 });
});

const CONFIG = ".config/surveyctl/config.json";

interface Config {
  readonly default_profile: string | null;
  readonly profiles: Readonly<Record<string, { readonly base_url: string; readonly api_key: string }>>;
}

const saved = async (): Promise<Config> => JSON.parse(await readFile(path.join(home, CONFIG), "utf8")) as Config;

function serve(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  tty?: { columns: number },
): Running {
  const started = startProgram({ args: ["serve", "--port", "0", ...args], home, env, ...(tty && { tty }) });
  running.push(started);
  return started;
}

async function stop({ child, ended }: Running): Promise<Ended> {
  child.kill("SIGTERM");
  return ended;
}

const run = (...args: readonly string[]): Promise<Ended> => runInside({ args, home });
const TEXT = ["--log-format", "text"];

it("saves the key as the default profile, with which the next commands work", async () => {
  const server = serve(["--data", "survey.db", "--login", "--quiet", ...TEXT]);
  const [, url = ""] = await server.saying(/^listening on (http\S+)$/m);
  const added = await run("people", "add", "--email", "ada@example.com", "--no-send", "--columns", "email");
  expect([added.status, added.stdout]).toEqual([0, "ada@example.com\n"]);
  const { stderr } = await stop(server);
  const { default_profile: first, profiles } = await saved();
  const key = profiles["default"]?.api_key ?? "";
  expect([first, profiles]).toEqual(["default", { default: { base_url: url, api_key: key, access: "full" } }]);
  expect(stderr).toBe(`Created survey.db (project "default"). API key, shown once:

  ${key}

Saved as profile "default" in ${path.join(home, CONFIG)}.
A person is surveyed at most once in 30 days; surveyctl service throttle changes that.

Next, in another terminal:

  surveyctl people add --email you@example.com

`);
});

it("keeps the default profile, and names the new one in what to type next", async () => {
  await stop(await listening(["--data", "first.db", "--login", "prod"]));
  const second = await listening(["--data", "second.db", "--login", "try-out", ...TEXT]);
  expect((await stop(second)).stderr).toContain("  surveyctl people add --email you@example.com --profile try-out\n");
  const { default_profile: first, profiles } = await saved();
  expect([first, Object.keys(profiles)]).toEqual(["prod", ["prod", "try-out"]]);
});

it("in a JSON log, still writes the key's file", async () => {
  const { stderr } = await stop(await listening(["--data", "survey.db", "--login", "prod"]));
  const events = stderr.split("\n").flatMap((line) => (line === "" ? [] : [JSON.parse(line) as { event: string }]));
  expect(events.find(({ event }) => event === "profile_saved")).toMatchObject({
    msg: `saved the key as profile "prod" in ${path.join(home, CONFIG)}`,
  });
  expect((await saved()).profiles["prod"]?.api_key).toBe(
    (await readFile(path.join(home, "survey.db.key"), "utf8")).trim(),
  );
});

it("says that there is no key to save if the data has one, or the environment gave it", async () => {
  await stop(await listening(["--data", "survey.db"]));
  const again = await stop(await listening(["--data", "survey.db", "--login", ...TEXT]));
  expect(again.stderr).toContain(
    "note: no profile was saved: survey.db has a key already, which cannot be shown again; " +
      "surveyctl service key add makes another\n",
  );
  const given = await stop(
    await listening(["--data", "new.db", "--login", ...TEXT], { SURVEYCTL_API_KEY: "a-given-key-of-mine" }),
  );
  expect(given.stderr).toContain("note: no profile was saved: the key is the one in SURVEYCTL_API_KEY\n");
  await expect(saved()).rejects.toThrow("ENOENT");
});

it("never replaces a profile without a question", async () => {
  await stop(await listening(["--data", "first.db", "--login", "prod"]));
  const before = await saved();
  const url = before.profiles["prod"]?.base_url ?? "";
  const refused = await serve(["--data", "second.db", "--login", "prod"]).ended;
  expect([refused.status, refused.stdout, refused.stderr.trimEnd().split("\n").slice(-2)]).toEqual([
    2,
    "",
    [`error: --login: there is a profile "prod" already (${url})`, "hint: use another name with --login NAME"],
  ]);
  await expect(readFile(path.join(home, "second.db"))).rejects.toThrow("ENOENT");
  const asked = serve(["--data", "second.db", "--login", "prod"], {}, { columns: 80 });
  await asked.saying(/Replace profile "prod" \(http\S+\)\? \[y\/N\] /);
  asked.child.stdin.write("n\r");
  expect((await asked.ended).stdout).toContain("Cancelled. Nothing was saved.");
  expect(await saved()).toEqual(before);
  const agreed = serve(["--data", "second.db", "--login", "prod"], {}, { columns: 80 });
  await agreed.saying(/Replace profile/);
  agreed.child.stdin.write("y\r");
  await agreed.saying(/Saved as profile "prod"/);
  expect((await saved()).profiles["prod"]?.api_key).not.toBe(before.profiles["prod"]?.api_key);
});

it("refuses a name that is not one before it makes a file", async () => {
  const { status, stderr } = await run("serve", "--data", path.join(home, "x.db"), "--login", "a b");
  expect([status, stderr]).toEqual([
    2,
    'error: --login: "a b" is not a valid profile name; use letters, digits, dots, dashes and underscores\n',
  ]);
  await expect(readFile(path.join(home, "x.db"))).rejects.toThrow("ENOENT");
});

it("shows how to log in if the profile cannot be saved", async () => {
  await writeFile(path.join(home, ".config"), "in the way");
  const { stderr } = await stop(await listening(["--data", "survey.db", "--login", ...TEXT]));
  expect(stderr).toMatch(/warning: no profile was saved: \S+config.json: .*not a directory/);
  expect(stderr).toMatch(/^ {2}printf %s '[\w-]{32}' \| surveyctl auth login --base-url http/m);
});

async function listening(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Running> {
  const server = serve(args, env);
  await server.saying(/^listening on/m);
  return server;
}

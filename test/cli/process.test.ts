import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import manifest from "../../package.json" with { type: "json" };
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { systemClock } from "../../src/runtime/clock.ts";
import { silentLog } from "../../src/runtime/log.ts";
import { systemRandom } from "../../src/runtime/random.ts";
import { ensureFirstKey } from "../../src/service/first-project.ts";
import { openService } from "../../src/service/service.ts";
import { runInside } from "../helpers/in-process.ts";
import { size } from "../helpers/long.ts";
import { answer, json, stall, startMisbehavingServer, type MisbehavingServer } from "../helpers/misbehaving-server.ts";
import { commandLines, hearsSignals, until } from "../helpers/process-list.ts";
import {
  bareEnvironment,
  follow,
  inTerminal,
  PROGRAM,
  runCli,
  startProgram,
  type Ended,
  type Running,
} from "../helpers/run-cli.ts";

const KEY = "key-of-the-process-test";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-process-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function withServer<Result>(
  behaviour: Parameters<typeof json>[0],
  work: (server: MisbehavingServer) => Promise<Result>,
): Promise<Result> {
  const server = await startMisbehavingServer({ script: [behaviour === undefined ? stall : json(behaviour)] });
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

const variables = ({ baseUrl }: MisbehavingServer): Record<string, string> => ({
  SURVEYCTL_BASE_URL: baseUrl,
  SURVEYCTL_API_KEY: KEY,
});

async function untilAsked(server: MisbehavingServer): Promise<void> {
  while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
}

describe("a signal", () => {
  it.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const)("when %s comes while a request waits, then the program ends with %i", async (signal, status) => {
    const ended = await withServer(undefined, async (server) => {
      const running = startProgram({ args: ["people", "list"], home, env: variables(server) });
      await untilAsked(server);
      running.child.kill(signal);
      return running.ended;
    });
    expect([ended.status, ended.stdout, ended.stderr.split("\n").length]).toEqual([status, "", 2]);
    expect(ended.stderr).toMatch(/^(?:Interrupted|Terminated)/);
  });

  it("when SIGINT comes with -o json, then the error is JSON too", async () => {
    const ended = await withServer(undefined, async (server) => {
      const running = startProgram({ args: ["people", "list", "--json"], home, env: variables(server) });
      await untilAsked(server);
      running.child.kill("SIGINT");
      return running.ended;
    });
    const error = { code: "interrupted", message: "Interrupted.", status: null, details: null, hint: null };
    expect(ended).toEqual({
      status: 130,
      signal: null,
      stdout: "",
      stderr: `${JSON.stringify({ error })}\n`,
    });
  });

  it("when a wait for the service is announced, then SIGINT ends it", async () => {
    const server = await startMisbehavingServer({ script: [answer(503, "", { "retry-after": "200" })] });
    const running = startProgram({ args: ["people", "list"], home, env: variables(server) });
    await once(running.child.stderr, "data");
    running.child.kill("SIGINT");
    const { status, stderr } = await running.ended;
    await server.stop();
    expect([status, stderr.split("\n").at(-2)]).toEqual([130, "Interrupted."]);
  });
});

describe("a signal before the first request", () => {
  const waiting = [
    ["auth", "login"],
    ["people", "import", "-", "--send", "--results", "signal.results.csv"],
    ["autopilot", "remove", "--from", "-", "--yes", "--results", "signal.results.csv"],
    ["api", "POST", "/v1/people.json", "--input", "-"],
  ];
  it.for(waiting.slice(0, size(2, 4)))(
    "when SIGTERM comes while %s %s waits for standard input, then the wait ends",
    async (args) => {
      const running = startProgram({
        args,
        home,
        env: { SURVEYCTL_BASE_URL: "http://127.0.0.1:9", SURVEYCTL_API_KEY: KEY },
      });
      await until(() => hearsSignals(running.child.pid ?? 0));
      running.child.kill("SIGTERM");
      const { status, stderr } = await running.ended;
      expect([status, stderr]).toEqual([143, "Terminated.\n"]);
      expect(await readdir(home)).not.toContain("signal.results.csv");
    },
  );

  it("when it comes while the key command runs, then that ends too", async () => {
    const command = "sleep 61.4242";
    const profiles = {
      default_profile: "slow",
      profiles: { slow: { base_url: "http://127.0.0.1:9", key_command: command } },
    };
    await mkdir(path.join(home, "slow/surveyctl"), { recursive: true, mode: 0o700 });
    await writeFile(path.join(home, "slow/surveyctl/config.json"), JSON.stringify(profiles), { mode: 0o600 });
    const running = startProgram({ args: ["people", "list"], home, env: { XDG_CONFIG_HOME: path.join(home, "slow") } });
    await until(async () => (await commandLines()).includes(command));
    running.child.kill("SIGTERM");
    const { status, stderr } = await running.ended;
    await until(async () => !(await commandLines()).includes(command));
    expect([status, stderr]).toEqual([143, "Terminated.\n"]);
  });
});

/** Containers can run programs as a user without a name or a home. */
const NOBODY = { uid: 4711, gid: 4711, cwd: "/", env: { PATH: process.env.PATH }, encoding: "utf8" } as const;
const readsAsNobody =
  process.getuid?.() === 0 && spawnSync(process.execPath, [PROGRAM, "--version"], NOBODY).status === 0;

it.runIf(readsAsNobody)("when the user has no home, then nothing is configured", () => {
  const { status, stderr } = spawnSync(process.execPath, [PROGRAM, "people", "list"], NOBODY);
  expect([status, stderr.split("\n")[0]]).toEqual([4, "error: no connection is configured"]);
});

function shell(line: string, env: Record<string, string> = {}): Promise<Ended> {
  const program = `surveyctl() { "${process.execPath}" "${PROGRAM}" "$@"; }; ${line}`;
  const running: Running = follow(spawn("bash", ["-c", program], { cwd: home, env: bareEnvironment(home, env) }));
  running.child.stdin.end();
  return running.ended;
}

describe("standard output", () => {
  it.each(["help --json", "", "people --help", "--version", "--help", "help exit-codes"].slice(0, size(2, 6)))(
    "when %s has no reader, then it ends quietly",
    async (args) => {
      expect(await shell(`surveyctl ${args} | true; echo "\${PIPESTATUS[0]}"`)).toEqual({
        status: 0,
        signal: null,
        stdout: "0\n",
        stderr: "",
      });
    },
  );

  it.each(["--version", "people --help", "--help", "help exit-codes"].slice(0, size(2, 4)))(
    "when %s meets a full disk, then that is an error",
    async (args) => {
      const { status, stderr } = await shell(`surveyctl ${args} > /dev/full`);
      expect([status, stderr.startsWith("error: "), stderr.split("\n").length]).toEqual([1, true, 2]);
    },
  );

  it("when the pipe is full and does not wait, then the program does", async () => {
    // A killed Node leaves the pipe in non-blocking mode.
    const fill = 'process.stdout.write("x".repeat(1 << 20)); process.kill(process.pid, "SIGKILL")';
    const line = `{ ( "${process.execPath}" -e '${fill}'; true ) 2> /dev/null; surveyctl --version; } | { sleep 0.3; tail -c 6; }`;
    expect(await shell(line)).toEqual({ status: 0, signal: null, stdout: `${manifest.version}\n`, stderr: "" });
  });

  it("when a long list loses its reader, then the program stops asking and ends with 0", async () => {
    const email = `${"x".repeat(200)}@example.com`;
    const script = ({ number }: { number: number }): ReturnType<typeof json> => {
      const rows = Array.from({ length: 100 }, (_, index) => ({ id: `${number}-${index}`, email }));
      return json(rows, { link: `<${server.baseUrl}/v1/people.json?page_info=${number}>; rel="next"` });
    };
    const server = await startMisbehavingServer({ script });
    const ended = await shell(
      `surveyctl people list --all | head -1 | cut -f1; echo "\${PIPESTATUS[0]}"`,
      variables(server),
    );
    const asked = server.requests.length;
    await server.stop();
    expect(ended).toEqual({ status: 0, signal: null, stdout: "1-0\n0\n", stderr: "" });
    expect(asked).toBeLessThan(500);
  });

  it("when a list meets a full disk, then the exit is 1", async () => {
    const ended = await withServer([{ id: "1", email: "a@example.com" }], (server) =>
      shell("surveyctl people list > /dev/full", variables(server)),
    );
    expect(ended).toEqual({
      status: 1,
      signal: null,
      stdout: "",
      stderr: "error: writing the output: the disk is full\n",
    });
  });

  it("when stderr is closed, then the status still tells", async () => {
    expect(await shell("surveyctl people list 2>&-")).toMatchObject({ status: 4, stdout: "" });
  });
});

it("when NO_COLOR and FORCE_COLOR are both set, then a terminal shows neither colour nor a warning of Node's", async () => {
  const { stdout } = await runCli({
    args: ["auth", "list"],
    tty: { columns: 80 },
    env: { NO_COLOR: "1", FORCE_COLOR: "1" },
  });
  expect(stdout).toBe("no profiles\r\n");
});

async function type(
  args: readonly string[],
  dialogue: readonly (readonly [question: RegExp, typed: string])[],
): Promise<Ended> {
  const line = [process.execPath, PROGRAM, ...args].map((word) => `'${word}'`).join(" ");
  const [command = "", ...rest] = inTerminal(line, 80);
  const running = follow(spawn(command, rest, { cwd: home, env: bareEnvironment(home) }));
  for (const [question, typed] of dialogue) {
    await running.saying(question);
    running.child.stdin.write(typed);
  }
  const ended = await running.ended;
  return { ...ended, stdout: ended.stdout.replaceAll("\r", "") };
}

function answers(name: string, yes: string): (readonly [RegExp, string])[] {
  return [
    [/Profile name \[default\]: /, `${name}\r`],
    [/Replace profile "asked" \(http:\S+\)\? \[y\/N\] /, `${yes}\r`],
  ];
}

describe("questions on a terminal", () => {
  it("when auth login asks, then the key is not shown and the profile is saved", async () => {
    const ended = await withServer({ nps: 0 }, (server) =>
      type(
        ["auth", "login", "--profile", "asked"],
        [
          [/Base URL of the service: /, `${server.baseUrl}\r`],
          [/API key \(hidden\): /, `${KEY}\r`],
        ],
      ),
    );
    const saved = JSON.parse(await readFile(path.join(home, ".config/surveyctl/config.json"), "utf8")) as {
      profiles: object;
    };
    expect(ended.stdout.split("\n").slice(0, 4)).toEqual([
      "Enter the service's URL and an API key. They will be verified and saved to",
      `  ${home}/.config/surveyctl/config.json (readable only by you).`,
      'No service yet? Run one with "surveyctl serve", or see one with "surveyctl demo".',
      "",
    ]);
    expect([ended.status, ended.stdout.includes(KEY), saved.profiles]).toEqual([
      0,
      false,
      { asked: { base_url: expect.stringMatching(/^http:\/\/127/), api_key: KEY } },
    ]);
  });

  it("when a profile is there, then its name is asked for and nothing is replaced without a yes", async () => {
    const declined = await type(["auth", "login"], answers("asked", "n"));
    expect([declined.status, declined.stdout.split("\n").at(-2)]).toEqual([2, "Cancelled. Nothing was saved."]);
    const replaced = await withServer({ nps: 0 }, (server) =>
      type(
        ["auth", "login", "--base-url", server.baseUrl],
        [...answers("asked", "y"), [/API key \(hidden\): /, `${KEY}-2\r`]],
      ),
    );
    expect([replaced.status, replaced.stdout]).toEqual([0, expect.stringContaining('Replaced profile "asked" in ')]);
  });

  it.each([
    ["Ctrl-C", "\u0003", 130, "Interrupted."],
    ["Ctrl-D", "\u0004", 2, "No input. Nothing was changed."],
  ])("when %s is typed, then nothing is done", async (_, typed, status, message) => {
    const ended = await type(["auth", "login", "--profile", "new"], [[/Base URL of the service: /, typed]]);
    expect([ended.status, ended.stdout.split("\n").at(-2)]).toEqual([status, message]);
  });

  it("when a retention would remove rows, then it is asked first, and a no changes nothing", async () => {
    const data = path.join(home, "retention.db");
    const options = { dataFile: data, clock: systemClock, random: systemRandom, log: silentLog };
    const service = await openService({ ...options, publicUrl: null, rateLimit: null });
    await ensureFirstKey(service.store, systemRandom, KEY);
    await service.close();
    await writeFile(path.join(home, "old.csv"), "id,person,score,created_at\n5,4,3,2015-01-31\n");
    const run = (args: readonly string[]): Promise<Ended> => runInside({ args: [...args, "--data", data], home });
    expect((await run(["service", "import", path.join(home, "old.csv"), "--quiet"])).status).toBe(0);
    const args = ["service", "retention", "--responses", "5y", "--delete", "--data", data];
    const question = /Delete 1 response older than \d{4}-\d\d-\d\d\? \[y\/N\] /;
    const declined = await type(args, [[question, "n\r"]]);
    expect([declined.status, declined.stdout.split("\n").at(-2)]).toEqual([2, "Cancelled. Nothing was changed."]);
    const look = ["service", "retention", "--columns", "responses,expired_responses"];
    expect(await run(look)).toMatchObject({ stdout: "\t0\n" });
    const agreed = await type(args, [[question, "y\r"]]);
    expect([agreed.status, agreed.stdout.split("\n").at(-2)]).toEqual([0, "1 response deleted."]);
    expect(await run(look)).toMatchObject({ stdout: "157788000\t0\n" });
  });

  it("when nobody would see the question, then nothing is asked", async () => {
    const words = [process.execPath, PROGRAM, "auth", "login"].map((word) => `'${word}'`).join(" ");
    const [command = "", ...rest] = inTerminal(`${words} 2> unseen; echo "status $?"`, 80);
    const { stdout } = await follow(spawn(command, rest, { cwd: home, env: bareEnvironment(home) })).ended;
    expect([stdout.trim(), await readFile(path.join(home, "unseen"), "utf8")]).toEqual([
      "status 2",
      "error: there is no terminal to ask on\n",
    ]);
  });

  it("when there is no terminal, then nothing is asked", async () => {
    const ended = await runCli({ args: ["auth", "login"] });
    expect(ended).toEqual({
      status: 2,
      signal: null,
      stdout: "",
      stderr: "error: --base-url is required when not on a terminal\n",
    });
  });
});

it("without its build says so in one sentence", async () => {
  const clone = await mkdtemp(path.join(tmpdir(), "surveyctl-unbuilt-"));
  await mkdir(path.join(clone, "bin"));
  await copyFile(PROGRAM, path.join(clone, "bin/surveyctl.js"));
  await writeFile(path.join(clone, "package.json"), '{"type":"module"}');
  const { status, stderr } = spawnSync(process.execPath, [path.join(clone, "bin/surveyctl.js"), "people", "list"]);
  await rm(clone, { recursive: true });
  const sentence = `error: surveyctl is not built; run: npm run build --prefix ${clone}\n`;
  expect([status, String(stderr)]).toEqual([1, sentence]);
});

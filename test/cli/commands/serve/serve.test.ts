import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { silentLog } from "../../../../src/runtime/log.ts";
import { systemRandom } from "../../../../src/runtime/random.ts";
import { ensureFirstKey } from "../../../../src/service/first-project.ts";
import { openService } from "../../../../src/service/service.ts";
import { isLong, size } from "../../../helpers/long.ts";
import { runInside, startInside, type RunningInside } from "../../../helpers/in-process.ts";
import { A_MINUTE_LATER, PROGRAM, startProgram, type Ended, type Running } from "../../../helpers/run-cli.ts";

const state: { folder: string; running: Running[]; inside: RunningInside[] } = { folder: "", running: [], inside: [] };
const file = (name: string): string => path.join(state.folder, name);
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-serve-"));
});
afterEach(async () => {
  const running = state.running.splice(0);
  for (const { child } of running) child.kill("SIGKILL");
  const inside = state.inside.splice(0);
  for (const { child } of inside) child.kill("SIGTERM");
  await Promise.all([...running, ...inside].map(({ ended }) => ended));
  await rm(state.folder, { recursive: true, force: true });
});

const KEY = "key-of-the-serve-test";
const OUTBOX = "note: no mail server: surveys become files in \\S+/outbox; serve --smtp URL sends them\n";
const NOTES = "note: created \\S+/survey\\.db\n";

function serve(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = { SURVEYCTL_API_KEY: KEY },
): RunningInside {
  const running = startInside({ args: [...serveArgs(), ...args], home: state.folder, env });
  state.inside.push(running);
  return running;
}

const serveArgs = (): string[] => ["serve", "--data", file("survey.db"), "--port", "0"];

function serveProcess(
  args: readonly string[] = [],
  env: Readonly<Record<string, string>> = { SURVEYCTL_API_KEY: KEY },
): Running {
  const running = startProgram({ args: [...serveArgs(), ...args], home: state.folder, env });
  state.running.push(running);
  return running;
}

async function urlOf(running: RunningInside | Running): Promise<string> {
  return (await running.saying(/^listening on (http\S+)$/m))[1] ?? "";
}

function keyOf({ child }: Running): Promise<string> {
  let said = "";
  return new Promise((resolve) => {
    child.stderr.on("data", (text: string) => {
      said += text;
      const [, key] = /^ {2}([\w-]{32})$/m.exec(said) ?? [];
      if (key !== undefined) resolve(key);
    });
  });
}

const run = (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ended> =>
  runInside({ args, home: state.folder, env });
const service = (...args: readonly string[]): Promise<Ended> => run(["service", ...args, "--data", file("survey.db")]);

const ask = (url: string, key: string, init: RequestInit = {}): Promise<Response> =>
  fetch(url, { ...init, headers: { authorization: `Basic ${btoa(`${key}:`)}`, "content-type": "application/json" } });

const add = async (url: string, email: string): Promise<number> =>
  (await ask(`${url}/v1/people.json`, KEY, { method: "POST", body: JSON.stringify({ email }) })).status;

const outbox = async (): Promise<string[]> =>
  (await readdir(file("outbox"))).filter((name) => !name.endsWith(".surveyctl-tmp")).toSorted();

async function makeDataFile(): Promise<void> {
  const options = { dataFile: file("survey.db"), clock: systemClock, random: systemRandom };
  const made = await openService({ ...options, log: silentLog, publicUrl: null, rateLimit: null });
  await ensureFirstKey(made.store, systemRandom, KEY);
  await made.close();
}

const TEXT = ["--log-format", "text"];

interface LogLine {
  readonly event: string;
  readonly file?: string;
  readonly hint?: string;
}

const readLog = (stderr: string): LogLine[] =>
  stderr
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as LogLine);

describe("starting", () => {
  it.each([[[]], [["--quiet"]]])(
    "in a pipe with %j, stderr is JSON, and a new key is in a file that only its user can read",
    async (args) => {
      const running = serveProcess(args, {});
      const url = await urlOf(running);
      const key = (await readFile(file("survey.db.key"), "utf8")).trim();
      expect((await stat(file("survey.db.key"))).mode & 0o777).toBe(0o600);
      expect((await ask(`${url}/v1/people.json`, key)).status).toBe(200);
      running.child.kill("SIGTERM");
      const { status, stdout, stderr } = await running.ended;
      expect([status, stdout, stderr.includes(key)]).toEqual([0, `listening on ${url}\n`, false]);
      const lines = readLog(stderr);
      expect(lines.map(({ event }) => event).slice(0, 3)).toEqual(
        args.length > 0 ? ["api_key"] : ["data_file_created", "started", "api_key"],
      );
      const hint = `surveyctl auth login --base-url ${url} < ${file("survey.db.key")}`;
      expect(lines.find(({ event }) => event === "api_key")).toMatchObject({ file: file("survey.db.key"), hint });
    },
  );

  it("never overwrites the key of data that was moved away", async () => {
    await writeFile(file("survey.db.key"), "the-key-of-older-data\n");
    const running = serveProcess([], {});
    const url = await urlOf(running);
    running.child.kill("SIGTERM");
    const { file: written = "" } = readLog((await running.ended).stderr).find(({ event }) => event === "api_key") ?? {};
    expect(await readFile(file("survey.db.key"), "utf8")).toBe("the-key-of-older-data\n");
    expect(written).toMatch(/survey\.db\.\d+\.key$/);
    const again = serve([], {});
    const key = (await readFile(written, "utf8")).trim();
    expect(url).not.toBe("");
    expect((await ask(`${await urlOf(again)}/v1/people.json`, key)).status).toBe(200);
  });

  it("on a terminal, a JSON log is all that comes besides the first line", async () => {
    const args = [...serveArgs(), "--log-format", "json"];
    const running = startProgram({ args, home: state.folder, tty: { columns: 80 } });
    state.running.push(running);
    await running.saying(/listening on http\S+\r\n/);
    running.child.stdin.write("\u0003");
    const [, ...lines] = (await running.ended).stdout.replaceAll(/\r\n|\^C/g, "\n").split(/\n+/);
    const events = readLog(lines.join("\n")).map(({ event }) => event);
    expect(events).toEqual(["data_file_created", "started", "api_key", "no_mail_server", "stopped"]);
    expect(existsSync(file("survey.db.key"))).toBe(true);
  });

  it("says why a start was refused in JSON where a JSON log was asked for", async () => {
    const { status, stderr } = await run(["serve", "--log-format=json", "--port", "many"]);
    expect([status, JSON.parse(stderr)]).toMatchObject([2, { error: { code: "usage", hint: null } }]);
  });

  it("makes no new service where data must exist", async () => {
    const missing = await run(["serve", "--must-exist", "--data", file("mount/survey.db"), "--port", "0"]);
    expect([missing.status, missing.stderr]).toEqual([
      2,
      `error: there is no data file ${file("mount/survey.db")}\n` +
        "hint: mount it or correct the path; without --must-exist, serve creates one\n",
    ]);
    expect(await readdir(state.folder)).not.toContain("mount");
    await writeFile(file("survey.db"), "");
    const empty = await run([...serveArgs(), "--must-exist"]);
    expect([empty.status, await readFile(file("survey.db"), "utf8")]).toEqual([2, ""]);
    await makeDataFile();
    const running = serve(["--must-exist"]);
    expect((await ask(`${await urlOf(running)}/v1/people.json`, KEY)).status).toBe(200);
  });

  it("when the file is new and the log is text, then the key is shown once, on stderr, and works", async () => {
    const first = serveProcess(["--quiet", ...TEXT], {});
    const shown = keyOf(first);
    const url = await urlOf(first);
    const key = await shown;
    expect((await ask(`${url}/v1/people.json`, key)).status).toBe(200);
    first.child.kill("SIGTERM");
    const { status, stdout, stderr } = await first.ended;
    expect([status, stdout]).toEqual([0, `listening on ${url}\n`]);
    expect(stderr).toBe(`Created ${file("survey.db")} (project "default"). API key, shown once:

  ${key}

A person is surveyed at most once in 30 days; surveyctl service throttle changes that.

Next, in another terminal:

  printf %s '${key}' | surveyctl auth login --base-url ${url}
  surveyctl people add --email you@example.com

`);
    const second = serve([], {});
    const again = await urlOf(second);
    expect((await ask(`${again}/v1/people.json`, key)).status).toBe(200);
    second.child.kill("SIGINT");
    const ended = await second.ended;
    expect([ended.status, ended.stdout]).toEqual([0, `listening on ${again}\n`]);
  });

  it.each([
    ["0.0.0.0", "127.0.0.1"],
    ["::", "[::1]"],
  ])("when it listens on all of %s, then the printed login works as it is", async (host, reachable) => {
    const running = serveProcess(["--host", host, "--insecure-http", ...TEXT], {});
    const shown = keyOf(running);
    const { port } = new URL(await urlOf(running));
    const key = await shown;
    const args = `auth login --base-url http://${reachable}:${port}`;
    const login = await runInside({ args: args.split(" "), home: state.folder, stdin: key });
    expect([login.status, login.stderr.includes("error")]).toEqual([0, false]);
    running.child.kill("SIGTERM");
    expect((await running.ended).stderr).toContain(`  printf %s '${key}' | surveyctl ${args}\n`);
  });

  it("when its public URL is plain http, then the printed commands allow that", async () => {
    const running = serveProcess(["--public-url", "http://survey.test", "--insecure-http", ...TEXT], {});
    const shown = keyOf(running);
    await urlOf(running);
    const key = await shown;
    running.child.kill("SIGTERM");
    const { stderr } = await running.ended;
    expect(stderr).toContain(`  printf %s '${key}' | surveyctl auth login --base-url http://survey.test --insecure-http
  surveyctl people add --email you@example.com --insecure-http
`);
  });

  it("when one SIGTERM comes twice, as from timeout, then it still ends in order", async () => {
    const running = serve();
    await urlOf(running);
    for (let sent = 0; sent < 2; sent += 1) {
      running.child.kill("SIGTERM");
      await sleep(5);
    }
    const { status, signal, stderr } = await running.ended;
    expect([status, signal, /"event":"stopped"/.test(stderr)]).toEqual([0, null, true]);
  });

  it("when the environment gives a short key, then it opens, and the log warns", async () => {
    const running = serve([], { SURVEYCTL_API_KEY: "short-key" });
    expect((await ask(`${await urlOf(running)}/v1/people.json`, "short-key")).status).toBe(200);
    running.child.kill("SIGTERM");
    const [warning = ""] = (await running.ended).stderr.split("\n");
    expect(JSON.parse(warning)).toMatchObject({
      event: "short_key",
      msg: "SURVEYCTL_API_KEY has fewer than 20 characters and could be guessed",
    });
  });

  it("when the environment gives the key, then it opens and is never shown", async () => {
    const running = serve();
    const url = await urlOf(running);
    expect((await ask(`${url}/v1/people.json`, KEY)).status).toBe(200);
    running.child.kill("SIGTERM");
    const { status, stdout, stderr } = await running.ended;
    expect([status, stdout]).toEqual([0, `listening on ${url}\n`]);
    expect(stderr).not.toContain(KEY);
    const lines = stderr
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { readonly event: string });
    expect(lines[0]).toMatchObject({ level: "info", event: "data_file_created" });
    expect(lines.filter(({ event }) => ["started", "request", "stopped"].includes(event))).toMatchObject([
      {
        level: "info",
        event: "started",
        msg: "started",
        version: expect.any(String),
        engine: "sqlite",
        schema: expect.any(Number),
      },
      {
        level: "info",
        event: "request",
        msg: "request",
        method: "GET",
        path: "/v1/people",
        route: "listPeople",
        status: 200,
        project: "default",
        engine: "sqlite",
      },
      { level: "info", event: "stopped" },
    ]);
  });

  it.each<[string, string[], RegExp]>([
    [
      "text is asked for",
      ["--log-format", "text"],
      new RegExp(
        `^${NOTES}\\S+ started version=.*\n${OUTBOX}\\d\\d:\\d\\d:\\d\\d GET /v1/people 200 \\d+ ms\n\\S+ stopped\n$`,
      ),
    ],
    ["it is quiet", ["-q"], /^$/],
    ["it is quiet and a format is named", ["-q", "--log-format", "text"], /^$/],
    [
      "only JSON may come",
      ["-o", "json", "--log-format", "text"],
      /^(?:\{"time":.*"level":"info","event":"(?:data_file_\w+|started|no_mail_server)".*\}\n){3,4}\{"time":.*"event":"request".*\}\n\{.*\}\n$/,
    ],
  ])("when %s in a pipe, then the log is as asked", async (_, args, log) => {
    const running = serve(args);
    await ask(`${await urlOf(running)}/v1/people.json`, KEY);
    running.child.kill("SIGTERM");
    expect((await running.ended).stderr).toMatch(log);
  });

  const SHOWN: [string[], string][] = [
    [[], `${NOTES}${OUTBOX}\\^CStopped\\.\n`],
    [
      ["-v"],
      `${NOTES}\\[time\\] started version=.*\n${OUTBOX}\\[time\\] GET /v1/people 200 \\[ms\\]\n\\^CStopped\\.\n`,
    ],
    [["-v", "-q"], "\\^C"],
  ];
  // `-v` shows the same notes as no flag.
  it.each(isLong ? SHOWN : SHOWN.slice(1))(
    "when it runs on a terminal with %j, then notes and requests are short lines, or silent",
    async (args, log) => {
      const running = startProgram({
        args: [...serveArgs(), ...args],
        home: state.folder,
        env: { SURVEYCTL_API_KEY: KEY },
        tty: { columns: 80 },
      });
      state.running.push(running);
      const [, url = ""] = await running.saying(/listening on (http\S+)\r\n/);
      await ask(`${url}/v1/people.json`, KEY);
      running.child.stdin.write("\u0003");
      const seen = (await running.ended).stdout
        .replaceAll("\r\n", "\n")
        .replaceAll(/\d\d:\d\d:\d\d/g, "[time]")
        .replaceAll(/\d+ ms/g, "[ms]");
      expect(seen).toMatch(new RegExp(`^listening on ${url}\n${log}$`));
    },
  );

  it("when a server serves the file, then commands and a second server use it too, and that one says so", async () => {
    const first = await urlOf(serve());
    const { status, stdout, stderr } = await service("project", "list");
    expect([status, stdout.split("\t")[1], stderr]).toEqual([0, "default", ""]);
    const other = serve();
    await add(await urlOf(other), "a@example.com");
    expect(await (await ask(`${first}/v1/people.json`, KEY)).json()).toMatchObject([{ email: "a@example.com" }]);
    other.child.kill("SIGTERM");
    expect((await other.ended).stderr).toMatch(
      /survey\.db is also served by \S+:\d+, or was within the last 30 seconds/,
    );
  });

  it("when the port is in use, then that is said and no key was made", async () => {
    const other = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => other.once("listening", resolve));
    const { port } = other.address() as AddressInfo;
    const ended = await run(["serve", "--data", file("survey.db"), "--port", String(port)]);
    other.close();
    expect(ended).toMatchObject({ status: 1, stdout: "" });
    expect(ended.stderr).toMatch(`error: port ${port} of 127.0.0.1 is in use by another process\n`);
    expect((await service("key", "list")).stderr).toMatch('there is no project "default"');
  });

  it.each<[string[], RegExp]>([
    [["--host", "0.0.0.0"], /^error: --host 0\.0\.0\.0: refusing to serve keys .*\nhint: .*--insecure-http/],
    [["--host", "0.0.0.0", "--public-url", "http://x.example"], /^error: --host/],
    [["--tls-cert", "x.pem"], /^error: --tls-cert requires --tls-key/],
    [["--tls-cert", "nix.pem", "--tls-key", "nix.pem"], /^error: --tls-cert: cannot read nix\.pem: no such file/],
    [
      ["--tls-cert", PROGRAM, "--tls-key", PROGRAM],
      /^error: --tls-cert, --tls-key: .* are not a certificate and its key in PEM/,
    ],
    [["--port", "70000"], /^error: --port: "70000" is not a whole number from 0 to 65535/],
    [["--rate-limit", "fast"], /^error: --rate-limit: "fast" is not a limit such as 10\/s or 600\/m/],
    [["--rate-limit", "0/s"], /^error: --rate-limit/],
    [["--public-url", "survey.example"], /^error: --public-url: "survey\.example" is not a URL/],
    [["--trust-proxy", "proxy"], /^error: --trust-proxy: "proxy" is not an address or network such as 10\.0\.0\.0\/8/],
    [["--trust-proxy", "10.0.0.0/33"], /^error: --trust-proxy: /],
    [["--metrics-listen", "9464"], /^error: --metrics-listen: "9464" is not ADDRESS:PORT such as 127\.0\.0\.1:9464/],
    [["--metrics-listen", "::1:9464"], /^error: --metrics-listen: /],
    [["--metrics-listen", "127.0.0.1:70000"], /^error: --metrics-listen: /],
    [["--metrics-token-file", "/dev/null"], /^error: --metrics-token-file: cannot read \/dev\/null: it is a device/],
  ])("when it is started with %j, then it is refused before a file is made", async (args, message) => {
    const ended = await run(["serve", "--data", file("survey.db"), "--port", "0", ...args]);
    expect([ended.status, ended.stdout]).toEqual([2, ""]);
    expect(ended.stderr).toMatch(message);
    expect(existsSync(file("survey.db"))).toBe(false);
  });

  it("when metrics have an address and a token, then it says where they are, and health is told while it runs", async () => {
    await writeFile(file("token"), "the-token\n");
    const health = (): Promise<Ended> => run(["service", "health"], { SURVEYCTL_DATA: file("survey.db") });
    const running = serve(["--metrics-listen", "127.0.0.1:0", "--metrics-token-file", file("token")]);
    const url = await urlOf(running);
    expect(await health()).toMatchObject({ status: 0, stdout: "status\tready\n", stderr: "" });
    expect(await run(["service", "health", "--url", url])).toMatchObject({ status: 0, stdout: "status\tready\n" });
    running.child.kill("SIGTERM");
    const [, metricsUrl = ""] = /"msg":"metrics on (http:\S+)\/metrics"/.exec((await running.ended).stderr) ?? [];
    expect(metricsUrl).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const stopped = `error: the service of ${file("survey.db")} is not running\n`;
    expect(await health()).toMatchObject({ status: 1, stdout: "", stderr: stopped });
    expect(await run(["service", "health", "--url", url])).toMatchObject({
      status: 1,
      stderr: `error: the service of ${url} does not answer (ECONNREFUSED)\n`,
    });
  });

  it("when the given key is too long for some clients, then it is refused", async () => {
    const running = serve([], { SURVEYCTL_API_KEY: "k".repeat(45) });
    const { status, stderr } = await running.ended;
    expect([status, stderr]).toEqual([
      2,
      "error: SURVEYCTL_API_KEY: a key must be 1 to 44 visible ASCII characters without a colon\n",
    ]);
  });

  it("when a limit is set, then 429 comes with a whole number of seconds", async () => {
    const url = await urlOf(serve(["--rate-limit", "2/m"]));
    const answers = [];
    for (let index = 0; index < 3; index += 1) answers.push(await ask(`${url}/v1/people.json`, KEY));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
    expect(answers[2]?.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  });
});

describe("service commands", () => {
  it("when a project, a key, an interval, an Autopilot and a trend are set, then each is shown", async () => {
    const address = await urlOf(serve());
    const added = await service("project", "add", "acme", "--json");
    expect(JSON.parse(added.stdout)).toEqual({ id: "2", name: "acme", key: expect.stringMatching(/^[\w-]{32}$/) });
    expect(added.stderr).toBe(
      '{"note":"save this key now; it is not shown again"}\n' +
        `{"note":"to use it here: printf %s \\"$KEY\\" | surveyctl auth login --base-url ${address} --profile acme"}\n`,
    );
    expect(JSON.parse((await service("key", "add", "--project", "acme", "--json")).stdout)).toMatchObject({ id: "2" });
    expect((await service("key", "revoke", "2", "--yes", "--project", "acme")).status).toBe(0);
    expect((await service("key", "list", "--project", "acme", "--columns", "id")).stdout).toBe("1\n");
    expect((await service("throttle", "90d", "--project", "acme", "--json")).stdout).toBe('{"throttle":7776000}\n');
    expect((await service("throttle", "off", "--project", "acme", "--json")).stdout).toBe('{"throttle":null}\n');
    const autopilot = await service("autopilot", "--platform", "sms", "--inactive", "--frequency", "2w", "--json");
    expect(JSON.parse(autopilot.stdout)).toEqual({
      platform: "sms",
      active: false,
      frequency: 1_209_600,
      first: "spread",
      days: "mon-fri",
      hours: "9-18",
      tz: "UTC",
    });
    const trend = await service("trend", "add", "Pro", "--where", "plan=pro", "--where", "region=EMEA", "--json");
    expect(JSON.parse(trend.stdout)).toMatchObject({ name: "Pro", where: { plan: "pro", region: "EMEA" } });
    const { id } = JSON.parse(trend.stdout) as { id: string };
    expect((await service("trend", "remove", id, "--yes")).status).toBe(0);
    expect((await service("trend", "list", "--json")).stdout).toBe("[]\n");
  });

  it.each<[string[], number, RegExp]>([
    [["key", "revoke", "99", "--yes"], 5, /^error: project default has no key 99\n/],
    [["key", "list", "--project", "nix"], 5, /^error: there is no project "nix"/],
    [["throttle", "soon"], 2, /^error: <interval>: "soon" is not a duration/],
    [["autopilot", "--active", "--inactive"], 2, /^error: --active and --inactive cannot be used together/],
    [["autopilot", "--platform", "fax"], 2, /^error: --platform: "fax" is not one of email, sms/],
    [["autopilot", "--frequency", "0"], 2, /^error: --frequency: must be from 1 second to 100 years \(got "0"\)\n/],
    [["autopilot", "--frequency", "36501d"], 2, /^error: --frequency: must be from 1 second to 100 years/],
    [["trend", "add", "Pro"], 2, /^error: --where is required\n/],
    [["trend", "add", "Pro", "--where", "plan"], 2, /^error: --where: "plan" is not key=value/],
    [["project", "add", "default"], 5, /^error: a project named "default" already exists\n/],
    [
      ["project", "add", "x", "--dry-run"],
      2,
      /^error: --dry-run: service commands send no requests that could be shown\n/,
    ],
  ])("when asked for %j, then it ends with %i and says why", async (args, status, message) => {
    await makeDataFile();
    const ended = await service(...args);
    expect([ended.status, ended.stdout]).toEqual([status, ""]);
    expect(ended.stderr).toMatch(message);
  });

  it("when no file is named, then the one that is used is", async () => {
    const local = ".local/share/surveyctl/local.db";
    await run(["people", "list", "--profile", "local"]);
    const made = await run(["service", "project", "list", "--profile", "local"]);
    expect([made.status, made.stderr]).toEqual([0, `note: using ${file(local)}\n`]);
    expect((await run(["service", "project", "list", "--profile", "local", "-q"])).stderr).toBe("");
    expect((await run(["service", "project", "list"], { SURVEYCTL_DATA: file(local) })).stderr).toBe("");
  });

  it("when there is no data file, then none is made", async () => {
    const ended = await service("key", "list");
    expect(ended.status).toBe(2);
    expect(ended.stderr).toMatch(/^error: there is no data file .*survey\.db\nhint: surveyctl serve --data /);
    expect(existsSync(file("survey.db"))).toBe(false);
  });
});

describe("delivering", () => {
  it.each<[string, string, string, (folder: string) => Promise<void>]>([
    ["a file", "is not a directory", "name another folder", (folder) => writeFile(folder, "")],
    ["a link", "is a symbolic link", "name the folder that it leads to", (folder) => symlink(state.folder, folder)],
    [
      "open to others",
      "belongs to or can be written by other users",
      "surveys would be written there; remove it, or chmod 700 it if it is yours",
      async (folder) => {
        await mkdir(folder);
        await chmod(folder, 0o777);
      },
    ],
  ])("when the outbox is %s, then serve does not start and says what helps", async (_, message, hint, make) => {
    const folder = file("elsewhere");
    await make(folder);
    const { status, stderr } = await run(["serve", "--data", file("survey.db"), "--port", "0", "--outbox", folder]);
    expect([status, stderr.slice(stderr.indexOf("error:"))]).toEqual([
      1,
      `error: ${folder} ${message}\nhint: ${hint}\n`,
    ]);
  });

  it("when surveys are due, then each is one mail in the outbox", async () => {
    const running = serve();
    const url = await urlOf(running);
    expect(await add(url, "ä@example.com")).toBe(201);
    running.child.kill("SIGTERM");
    expect((await running.ended).status).toBe(0);
    const next = serve();
    await urlOf(next);
    while (!existsSync(file("outbox")) || (await outbox()).length === 0)
      await new Promise((resolve) => setTimeout(resolve, 20));
    const [name = ""] = await outbox();
    expect(await readFile(path.join(file("outbox"), name), "utf8")).toMatch(/^To: ä@example\.com\r$/m);
  });

  it("when it is killed again and again while it delivers, then each survey is there exactly once", async () => {
    const people = size(30, 120);
    for (const [round, pause] of (isLong ? [0, 0, 15, 40, 5, 80] : [0, 40]).entries()) {
      const victim = serveProcess();
      const address = await urlOf(victim);
      const added = Array.from({ length: round === 0 ? people : 0 }, (_, at) => add(address, `p${at}@example.com`));
      await Promise.all(added);
      await new Promise((resolve) => setTimeout(resolve, pause));
      victim.child.kill("SIGKILL");
      await victim.ended;
    }
    const running = serveProcess([], { SURVEYCTL_API_KEY: KEY, ...A_MINUTE_LATER });
    const url = await urlOf(running);
    const waiting = async (): Promise<number> => {
      const rows = (await (await ask(`${url}/v1/people.json?per_page=100`, KEY)).json()) as {
        next_survey_scheduled_at: number | null;
      }[];
      return rows.filter(({ next_survey_scheduled_at: at }) => at !== null).length;
    };
    while ((await waiting()) > 0 || (await outbox()).length < people)
      await new Promise((resolve) => setTimeout(resolve, 20));
    running.child.kill("SIGTERM");
    expect((await running.ended).status).toBe(0);
    const mails = await Promise.all((await outbox()).map((name) => readFile(path.join(file("outbox"), name), "utf8")));
    const receivers = mails.map((mail) => /^To: (.*)\r$/m.exec(mail)?.[1] ?? mail);
    expect(receivers.toSorted()).toEqual(
      Array.from({ length: people }, (_, index) => `p${index}@example.com`).toSorted(),
    );
    for (const mail of mails) expect(mail).toMatch(/--\r\n$/);
    expect((await readdir(file("outbox"))).length).toBe(people);
  }, 180_000);
});

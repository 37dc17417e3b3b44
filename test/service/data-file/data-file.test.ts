import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdir, copyFile, mkdtemp, readdir, readFile, rename, rm, stat, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { size } from "../../helpers/long.ts";
import { runInside, startInside, type RunningInside } from "../../helpers/in-process.ts";
import { bareEnvironment, follow, PROGRAM, startProgram, type Ended, type Running } from "../../helpers/run-cli.ts";

const KEY = "key-of-the-ground-tests";
const STARTERS = size(2, 8);
const ROUNDS = Number(process.env["SURVEYCTL_TEST_ROUNDS"] ?? size(1, 2));
const TIMEOUT_MS = 120_000;

/** `groups` are servers started through another program, such as `unshare`. */
const state: { folder: string; running: Running[]; groups: Running[]; inside: RunningInside[] } = {
  folder: "",
  running: [],
  groups: [],
  inside: [],
};
const file = (name: string): string => path.join(state.folder, name);
beforeEach(async () => {
  state.folder = await mkdtemp(path.join(tmpdir(), "surveyctl-ground-"));
});
afterEach(async () => {
  const [running, groups, inside] = [state.running.splice(0), state.groups.splice(0), state.inside.splice(0)];
  for (const { child } of running) child.kill("SIGKILL");
  for (const { child } of groups) killGroup(child.pid);
  for (const { child } of inside) child.kill("SIGTERM");
  // A server still running would write into the folder while it is being removed.
  await Promise.all([...running, ...groups, ...inside].map(({ ended }) => ended));
  await rm(state.folder, { recursive: true, force: true });
});

const serveArgs = (name: string): string[] => ["serve", "--data", file(name), "--port", "0"];

function serve(name = "survey.db", env: Readonly<Record<string, string>> = {}): RunningInside {
  const running = startInside({
    args: serveArgs(name),
    home: state.folder,
    env: { SURVEYCTL_API_KEY: KEY, ...env },
  });
  state.inside.push(running);
  return running;
}

function serveProcess(): Running {
  const running = startProgram({
    args: serveArgs("survey.db"),
    home: state.folder,
    env: { SURVEYCTL_API_KEY: KEY },
  });
  state.running.push(running);
  return running;
}

function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, "SIGKILL");
  } catch {
    // It has already exited.
  }
}

function serveWithin(command: readonly string[], name = "survey.db"): Running {
  const [program = "", ...args] = [...command, process.execPath, PROGRAM, ...serveArgs(name)];
  const child = spawn(program, args, {
    cwd: state.folder,
    env: bareEnvironment(state.folder, { SURVEYCTL_API_KEY: KEY }),
    detached: true,
  });
  const running = follow(child);
  state.groups.push(running);
  return running;
}

async function urlOf(running: Pick<Running, "saying">): Promise<string> {
  return (await running.saying(/^listening on (http\S+)$/m))[1] ?? "";
}

const authorization = `Basic ${btoa(`${KEY}:`)}`;

async function add(url: string, email: string, more: object = {}): Promise<number> {
  const body = JSON.stringify({ email, ...more });
  try {
    const answer = await fetch(`${url}/v1/people.json`, {
      method: "POST",
      headers: { authorization, "content-type": "application/json" },
      body,
    });
    return answer.status;
  } catch {
    return 0;
  }
}

async function emails(url: string): Promise<string[]> {
  const answer = await fetch(`${url}/v1/people.json?per_page=100`, { headers: { authorization } });
  return ((await answer.json()) as { email: string }[]).map(({ email }) => email);
}

const readyz = async (url: string): Promise<number> => (await fetch(`${url}/readyz`)).status;
const run = (args: readonly string[]): Promise<Ended> => runInside({ args, home: state.folder });

async function eventually<Value>(look: () => Promise<Value>, expected: Value, ms: number): Promise<void> {
  for (const end = Date.now() + ms; Date.now() < end && (await look()) !== expected;)
    await new Promise((resolve) => setTimeout(resolve, 50));
  expect(await look()).toBe(expected);
}

/** The service can delete a message while we read the others. */
const messages = async (): Promise<string[]> => {
  const all = await readdir(file("outbox")).catch(() => []);
  const names = all.filter((name) => name.endsWith(".eml"));
  const texts = await Promise.all(names.map((name) => readFile(file(`outbox/${name}`), "utf8").catch(() => null)));
  return texts.filter((text) => text !== null);
};

describe("surveys", () => {
  it("when two data files lie in one folder, then each survey of both is written", async () => {
    for (const name of ["a.db", "b.db"]) expect(await add(await urlOf(serve(name)), `${name}@x.co`)).toBe(201);
    await eventually(async () => (await messages()).length, 2, 10_000);
    expect((await messages()).filter((mail) => /^To: .*b\.db@x\.co/m.test(mail))).toHaveLength(1);
  });

  it("when a fresh file lies beside an old outbox, or a backup is restored, then new surveys are written", async () => {
    const first = serve();
    expect(await add(await urlOf(first), "old@x.co")).toBe(201);
    await eventually(async () => (await messages()).length, 1, 10_000);
    first.child.kill("SIGTERM");
    await first.ended;
    await rename(file("survey.db"), file("kept.db"));
    const second = serve();
    expect(await add(await urlOf(second), "fresh@x.co")).toBe(201);
    await eventually(async () => (await messages()).length, 2, 10_000);
    second.child.kill("SIGTERM");
    await second.ended;
    await rename(file("kept.db"), file("survey.db"));
    expect(await add(await urlOf(serve()), "restored@x.co")).toBe(201);
    await eventually(async () => (await messages()).length, 3, 10_000);
  });

  it("when a person is deleted, then the message goes too", async () => {
    const url = await urlOf(serve());
    await add(url, "ada@x.co");
    await eventually(async () => (await messages()).length, 1, 10_000);
    const deleted = await fetch(`${url}/v1/people/email:ada@x.co`, { method: "DELETE", headers: { authorization } });
    expect(deleted.status).toBe(202);
    await eventually(async () => (await messages()).length, 0, 10_000);
  });
});

const NAMESPACE = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
const hasNamespaces = spawnSync(NAMESPACE[0] ?? "", [...NAMESPACE.slice(1), "true"]).status === 0;

describe("several servers", () => {
  it.skipIf(!hasNamespaces)(
    "when two containers serve one volume, then both answer from the same rows, one beside the other",
    async () => {
      const urls = [await urlOf(serve())];
      const second = serveWithin(NAMESPACE);
      urls.push(await urlOf(second));
      for (const [index, url] of urls.entries()) expect(await add(url, `p${index}@x.co`, { send: false })).toBe(201);
      for (const url of urls) expect((await emails(url)).toSorted()).toEqual(["p0@x.co", "p1@x.co"]);
    },
    TIMEOUT_MS,
  );

  it(
    `when a server is killed and ${STARTERS} start at once, then all serve what it had saved, ${ROUNDS} times`,
    async () => {
      for (let round = 0; round < ROUNDS; round += 1) {
        const victim = serveProcess();
        expect(await add(await urlOf(victim), `${round}@x.co`)).toBe(201);
        victim.child.kill("SIGKILL");
        await victim.ended;
        const all = Array.from({ length: STARTERS }, () => serveProcess());
        for (const one of all) expect(await emails(await urlOf(one))).toHaveLength(round + 1);
        for (const { child } of all) child.kill("SIGKILL");
        await Promise.all(all.map(({ ended }) => ended));
      }
    },
    TIMEOUT_MS + ROUNDS * 30_000,
  );
});

const hasPython = spawnSync("python3", ["-c", "import sqlite3"]).status === 0;

/** Runs SQL from another program, which then closes the file or keeps it open until its stdin ends. */
function otherProgram(statements: string, waits = false): ReturnType<typeof spawnSync> {
  const script = `
import sqlite3, sys
c = sqlite3.connect(${JSON.stringify(file("survey.db"))}, timeout=0.1, isolation_level=None)
for s in ${JSON.stringify(statements.split(";"))}: c.execute(s).fetchall()
${waits ? "print('open', flush=True); sys.stdin.read()" : ""}`;
  return spawnSync("python3", ["-c", script], { encoding: "utf8", timeout: 20_000 });
}

describe.skipIf(!hasPython)("other programs", () => {
  it("when one reads the file, then nothing that was acknowledged is lost", async () => {
    const server = serveProcess();
    const url = await urlOf(server);
    const saved: string[] = [];
    const save = async (email: string): Promise<number> => {
      const status = await add(url, email, { send: false });
      if (status === 201) saved.push(email);
      return status;
    };
    for (let index = 0; index < 20; index += 1) await save(`before${index}@x.co`);
    const reader = otherProgram("select count(*) from people");
    const after = [];
    for (let index = 0; index < 20; index += 1) after.push(await save(`after${index}@x.co`));
    server.child.kill("SIGKILL");
    await server.ended;
    expect([reader.status, new Set(after)]).toEqual([0, new Set([201])]);
    expect((await emails(await urlOf(serve()))).toSorted()).toEqual(saved.toSorted());
  });
});

describe("the file", () => {
  it("when it is removed while it is served, then nothing is acknowledged any more and one line says so", async () => {
    const server = serve();
    const url = await urlOf(server);
    for (let index = 0; index < 5; index += 1) await add(url, `p${index}@x.co`, { send: false });
    await rm(file("survey.db"));
    // 0 means that the server noticed first and no longer listens.
    expect([503, 0]).toContain(await add(url, "late@x.co"));
    const { status, stderr } = await server.ended;
    expect([status, stderr]).toEqual([
      1,
      expect.stringMatching(/survey\.db: the file was removed while it was in use/),
    ]);
  });

  it("when nobody writes after it was removed, then the end of the server still tells", async () => {
    const server = serve();
    await add(await urlOf(server), "a@x.co");
    await rm(file("survey.db"));
    server.child.kill("SIGTERM");
    expect(await server.ended).toMatchObject({ status: 1, stderr: expect.stringContaining("was removed") as string });
  });

  it("when a backup is put back beside the log of a killed server, then it is not mixed with it", async () => {
    const first = serve();
    await add(await urlOf(first), "a@x.co", { send: false });
    first.child.kill("SIGTERM");
    await first.ended;
    await copyFile(file("survey.db"), file("backup.db"));
    const second = serveProcess();
    await add(await urlOf(second), "b@x.co", { send: false });
    second.child.kill("SIGKILL");
    await second.ended;
    await copyFile(file("backup.db"), file("survey.db"));
    const mixed = await serve().ended;
    expect([mixed.status, mixed.stderr]).toEqual([1, expect.stringContaining("belongs to another copy of the file")]);
    await rm(file("survey.db-wal"));
    expect(await emails(await urlOf(serve()))).toEqual(["a@x.co"]);
  });

  it.each<[string, (name: string) => Promise<void>, RegExp]>([
    ["cut in half", async (name) => truncate(name, Math.floor((await stat(name)).size / 2 / 4096) * 4096), /damaged/],
    ["overwritten in the middle", overwrite, /damaged/],
    ["another program's text", (name) => writeFile(name, "hello ".repeat(1000)), /not a SQLite database/],
  ])("when it is %s, then the server says so and does not start", async (_, damage, message) => {
    const server = serve();
    await add(await urlOf(server), "a@x.co");
    server.child.kill("SIGTERM");
    await server.ended;
    await damage(file("survey.db"));
    const { status, stdout, stderr } = await serve().ended;
    expect([status, stdout, stderr]).toEqual([1, "", expect.stringMatching(message)]);
    expect(stderr).not.toContain("mistake in surveyctl");
  });

  it("when it is a directory, then the server says so and does not start", async () => {
    await mkdir(file("survey.db"));
    const { status, stdout, stderr } = await serve().ended;
    expect([status, stdout, stderr]).toEqual([
      1,
      "",
      expect.stringMatching(/^error: \S*survey\.db: the path leads to a directory, not to a file\n$/),
    ]);
  });

  it("when a table is missing, then the server says which and does not start", async () => {
    const { openRawDatabase } = await import("../store/engines.ts");
    const server = serve();
    await urlOf(server);
    server.child.kill("SIGTERM");
    await server.ended;
    const database = await openRawDatabase(file("survey.db"));
    database.exec("DROP TABLE trend_conditions");
    database.close();
    expect((await serve().ended).stderr).toContain("damaged: trend_conditions is missing");
  });

  it("when the umask allows everything, then all files are for their owner alone, and a readable one is told", async () => {
    const before = process.umask(0);
    onTestFinished(() => void process.umask(before));
    const server = serve();
    await add(await urlOf(server), "a@x.co");
    const names = (await readdir(state.folder)).filter((name) => name.startsWith("survey.db"));
    const modes = await Promise.all(names.map(async (name) => (await stat(file(name))).mode & 0o777));
    expect([names.length, new Set(modes)]).toEqual([3, new Set([0o600])]);
    server.child.kill("SIGTERM");
    expect((await server.ended).stderr).not.toContain("can be read by other users");
  });

  it.each([
    ["644", 0o600],
    ["664", 0o660],
    ["660", 0o660],
  ])("when the file's mode is %s, then its log is for those alone who may write it", async (mode, expected) => {
    const first = serve();
    await urlOf(first);
    first.child.kill("SIGTERM");
    await first.ended;
    spawnSync("chmod", [mode, file("survey.db")]);
    const second = serve();
    await urlOf(second);
    const modes = ["-wal", "-shm"].map(async (end) => (await stat(file(`survey.db${end}`))).mode & 0o777);
    expect(await Promise.all(modes)).toEqual([expected, expected]);
    second.child.kill("SIGTERM");
    expect((await second.ended).stderr).toContain("can be read by other users");
  });

  it("when the environment gives a key that opens nothing, then the server starts and says so once", async () => {
    const first = "the-first-key-of-these-tests";
    expect(await warnings(first)).toEqual([]);
    const way = "surveyctl service key add makes a key, and the variable names one only when the data is created";
    expect(await warnings("another-key-of-the-tests")).toEqual([
      expect.stringContaining(`SURVEYCTL_API_KEY is not a key of this service and opens nothing; ${way}`),
    ]);
    const revoke = ["service", "key", "revoke", "1", "--yes", "--data", file("survey.db")];
    expect((await run(revoke)).status).toBe(0);
    expect(await warnings(first)).toEqual([
      expect.stringMatching(
        /SURVEYCTL_API_KEY was revoked at 20\d\d-\S+ and opens nothing; surveyctl service key add /,
      ),
    ]);
    const list = ["service", "key", "list", "--data", file("survey.db"), "--json"];
    expect((await run(list)).stdout).toBe("[]\n");
  });

  it("when it stops, then nothing but the file is left beside it", async () => {
    const server = serveProcess();
    await urlOf(server);
    const args = ["service", "project", "list", "--data", file("survey.db")];
    expect((await startProgram({ args, home: state.folder }).ended).status).toBe(0);
    server.child.kill("SIGTERM");
    expect((await server.ended).status).toBe(0);
    expect((await readdir(state.folder)).filter((name) => name.startsWith("survey.db"))).toEqual(["survey.db"]);
  });
});

async function warnings(key: string): Promise<string[]> {
  const server = serve("survey.db", { SURVEYCTL_API_KEY: key });
  await urlOf(server);
  server.child.kill("SIGTERM");
  const { status, stderr } = await server.ended;
  expect(status).toBe(0);
  return stderr.split("\n").filter((line) => line.includes("key_opens_nothing"));
}

async function overwrite(name: string): Promise<void> {
  const bytes = await readFile(name);
  await writeFile(name, bytes.fill(0x5a, 4096 * 3, 4096 * 6));
}

const DISK = ["unshare", "--mount", "--fork", "--kill-child", "sh", "-c"];
const canMount =
  spawnSync(DISK[0] ?? "", [...DISK.slice(1), `mount -t tmpfs -o size=1m none ${tmpdir()} && true`]).status === 0;

describe("standard error that nobody reads", () => {
  it("when the log piles up, then requests are answered and SIGTERM ends the server within a second or so", async () => {
    const child = spawn(process.execPath, [PROGRAM, ...serveArgs("survey.db")], {
      cwd: state.folder,
      env: bareEnvironment(state.folder, { SURVEYCTL_API_KEY: KEY }),
      stdio: ["ignore", "pipe", "pipe"],
    });
    onTestFinished(() => void child.kill("SIGKILL"));
    // Nothing reads stdout after this, so the log blocks once the 64 KiB pipe is full.
    const [line] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
    const url = /http\S+/.exec(line)?.[0] ?? "";
    for (let index = 0; index < size(20, 60); index += 1)
      await Promise.all(Array.from({ length: 20 }, async () => (await fetch(`${url}/v1/people.json`)).text()));
    const startedMs = Date.now();
    child.kill("SIGTERM");
    const [status] = (await once(child, "exit")) as [number];
    expect([status, Date.now() - startedMs < 3_000]).toEqual([0, true]);
  });
});

describe("SIGUSR1", () => {
  it("when it comes, then no debugger is opened", async () => {
    const server = serveProcess();
    const url = await urlOf(server);
    process.kill(server.child.pid ?? 0, "SIGUSR1");
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(await readyz(url)).toBe(200);
    server.child.kill("SIGTERM");
    expect((await server.ended).stderr).not.toContain("Debugger");
  });
});

describe.skipIf(!canMount)("a full disk", () => {
  it("when it has no room for a new data file, then none is begun, and one sentence says why", async () => {
    const script = `mount -t tmpfs -o size=300k none "$0" && "$@"; status=$?; ls "$0"; exit $status`;
    const disk = file("disk");
    spawnSync("mkdir", [disk]);
    const { status, stdout, stderr } = await serveWithin([...DISK, script, disk], "disk/survey.db").ended;
    expect([status, stdout, stderr]).toEqual([1, "", `error: ${path.join(disk, "survey.db")}: the disk is full\n`]);
  });

  it(
    "when there is no room, then writes are refused for now and reads go on; when there is again, then all goes on within 5 s",
    async () => {
      // Only the server sees the mount, so the test reaches the disk through /proc/PID/root.
      const script = `mount -t tmpfs -o size=3m none "$0" && cd "$0" && exec "$@"`;
      const disk = file("disk");
      spawnSync("mkdir", [disk]);
      const server = serveWithin([...DISK, script, disk], "disk/survey.db");
      const url = await urlOf(server);
      expect(await add(url, "a@x.co")).toBe(201);
      const own = await ownRoot(server, disk);
      const outbox = async (): Promise<number> =>
        (await readdir(path.join(own, "outbox")).catch(() => [])).filter((name) => name.endsWith(".eml")).length;
      await eventually(outbox, 1, 10_000);
      await writeFile(path.join(own, "ballast"), Buffer.alloc(4_000_000)).catch(() => undefined);
      const refused = await fetch(`${url}/v1/people.json`, {
        method: "POST",
        headers: { authorization, "content-type": "application/json" },
        body: JSON.stringify({ email: "b@x.co" }),
      });
      expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "5"]);
      expect([await add(url, "c@x.co"), await readyz(url)]).toEqual([503, 503]);
      expect(await emails(url)).toEqual(["a@x.co"]);
      await rm(path.join(own, "ballast"));
      await eventually(() => readyz(url), 200, 5_000);
      expect(await add(url, "d@x.co")).toBe(201);
      await eventually(outbox, 2, 5_000);
      process.kill(-(server.child.pid ?? 0), "SIGTERM");
      const { stderr } = await server.ended;
      expect(stderr.match(/"event":"data_file_trouble"/g)).toHaveLength(1);
    },
    TIMEOUT_MS,
  );
});

async function ownRoot(server: Running, folder: string): Promise<string> {
  const parent = String(server.child.pid);
  const [pid = ""] = (await readFile(`/proc/${parent}/task/${parent}/children`, "utf8")).split(" ");
  const root = `/proc/${pid}/root${folder}`;
  expect(await readdir(root)).toContain("survey.db");
  return root;
}

/** Crashes the program through a preloaded module that throws while a command is running. */
import { mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, it } from "vitest";
import { json, stall, startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import { size } from "../helpers/long.ts";
import { runCli, startProgram, type Ended } from "../helpers/run-cli.ts";

const KEY = "key/of=the-crash-test";
const FORMS = [KEY, encodeURIComponent(KEY), ...[KEY, `${KEY}:`].map((text) => Buffer.from(text).toString("base64"))];
const SAYS_KEY = `new Error("broke at ${FORMS.join(" and ")}\\nand more")`;

const CRASHES = {
  "an exception in a timer": `throw ${SAYS_KEY}`,
  "a rejection that nobody awaits": `void Promise.reject(${SAYS_KEY})`,
  "an error event that nobody hears": `new (require("node:events"))().emit("error", ${SAYS_KEY})`,
} as const;

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-crash-"));
});
afterAll(async () => await rm(folder, { recursive: true, force: true }));

interface Scene {
  readonly code: string;
  readonly args: readonly string[];
  readonly keyFrom?: "environment" | "profile";
  readonly asks?: boolean;
}

/**
 * Runs a command against a service that never responds. `code` runs after the request, or half a second after the
 * start.
 */
async function crash({
  code,
  args,
  keyFrom = "environment",
  asks = true,
}: Scene): Promise<Ended & { readonly files: string[] }> {
  const home = await mkdtemp(path.join(folder, "home-"));
  const server = await startMisbehavingServer({ script: [stall] });
  await writeFile(
    path.join(home, "crash.cjs"),
    asks ? `process.on("SIGUSR2", () => { ${code} });` : `setTimeout(() => { ${code} }, 500);`,
  );
  await mkdir(path.join(home, "config/surveyctl"), { recursive: true, mode: 0o700 });
  const profiles = { default_profile: "p", profiles: { p: { base_url: server.baseUrl, api_key: KEY } } };
  await writeFile(path.join(home, "config/surveyctl/config.json"), JSON.stringify(profiles), { mode: 0o600 });
  const env = { NODE_OPTIONS: `--require=${home}/crash.cjs`, XDG_CONFIG_HOME: `${home}/config` };
  try {
    const given = keyFrom === "profile" ? env : { ...env, SURVEYCTL_API_KEY: KEY, SURVEYCTL_BASE_URL: server.baseUrl };
    const running = startProgram({ args, env: given, home });
    if (asks) {
      while (server.requests.length === 0) await new Promise((resolve) => setTimeout(resolve, 10));
      running.child.kill("SIGUSR2");
    }
    const ended = await running.ended;
    return { ...ended, files: (await readdir(home)).filter((name) => name !== "crash.cjs" && name !== "config") };
  } finally {
    await server.stop();
  }
}

const SAID = `error: broke at ${FORMS.map(() => "[key removed]").join(" and ")}\nhint: this is a bug in surveyctl; --verbose shows the stack\n`;

describe.concurrent("an error that nobody caught", () => {
  // The short run leaves out rejections, which are tested below, and error events, which Node treats as exceptions.
  it.for(Object.entries(CRASHES).slice(0, size(1, 3)))(
    "when it is %s, then one sentence and status 1 end the command",
    async ([, code], { expect }) => {
      const ended = await crash({ code, args: ["people", "list"] });
      expect(ended).toEqual({ status: 1, signal: null, stdout: "", stderr: SAID, files: [] });
    },
  );

  it("when the key is the profile's and the stack is asked for, then that holds no key either", async ({ expect }) => {
    const { status, stdout, stderr } = await crash({
      code: CRASHES["an exception in a timer"],
      args: ["people", "list", "-v"],
      keyFrom: "profile",
    });
    const leaked = FORMS.filter((form) => `${stdout}${stderr}`.includes(form));
    expect([status, stderr.includes(`${SAID}Error: broke at [key removed]`), leaked]).toEqual([1, true, []]);
  });

  it("when an export was on its way, then no half of it is left", async ({ expect }) => {
    const ended = await crash({
      code: CRASHES["an exception in a timer"],
      args: ["people", "export", "--quiet", "--out", "all.csv"],
    });
    expect(ended).toEqual({ status: 1, signal: null, stdout: "", stderr: SAID, files: [] });
  });

  it("when errors are wanted as JSON, then it is one", async ({ expect }) => {
    const { status, stderr } = await crash({
      code: `throw new TypeError("x is no function")`,
      args: ["metrics", "--json"],
    });
    const error = { code: "internal", message: "x is no function", status: null, details: null };
    const hint = "this is a bug in surveyctl; --verbose shows the stack";
    expect([status, stderr]).toEqual([1, `${JSON.stringify({ error: { ...error, hint } })}\n`]);
  });

  it("when the system's words are what it is, then they are told as everywhere", async ({ expect }) => {
    const code = `throw Object.assign(new Error("ENOSPC"), { code: "ENOSPC", syscall: "write", path: "a.csv" })`;
    const { status, stderr } = await crash({ code, args: ["metrics"] });
    expect([status, stderr]).toEqual([1, "error: a.csv: the disk is full\n"]);
  });

  it("when the command has ended already, then it is told and the status is 1", async ({ expect }) => {
    const { status, stderr } = await crash({
      code: CRASHES["a rejection that nobody awaits"],
      args: ["help", "people"],
      asks: false,
    });
    expect([status, stderr]).toEqual([1, SAID]);
  });

  it("when what the command waits for never comes, then it ends all the same", async ({ expect }) => {
    const never = `require("node:net").Socket.prototype.destroy = function () { return this; }; AbortSignal.prototype.dispatchEvent = () => true;`;
    const { status, signal, stderr } = await crash({
      code: `${never} throw new Error("stuck")`,
      args: ["people", "list"],
    });
    expect([status, signal, stderr.split("\n")[0]]).toEqual([null, "SIGTERM", "error: stuck"]);
  });
});

it("when nothing crashes, then a command ends as ever", async ({ expect }) => {
  const server = await startMisbehavingServer({ script: [json([])] });
  const ended = await runCli({
    args: ["people", "list"],
    env: { SURVEYCTL_API_KEY: KEY, SURVEYCTL_BASE_URL: server.baseUrl },
  });
  await server.stop();
  expect(ended).toEqual({ status: 0, signal: null, stdout: "", stderr: "" });
});

import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { type Finished, runInProcess } from "../helpers/in-process.ts";
import { answer, type Behaviour, startMisbehavingServer } from "../helpers/misbehaving-server.ts";

const KEY = "key-of-the-next-steps";

async function metrics(behaviour: Behaviour, ...flags: readonly string[]): Promise<Finished> {
  const server = await startMisbehavingServer({ script: [behaviour] });
  onTestFinished(() => server.stop());
  const env = { HOME: "/nonexistent", SURVEYCTL_API_KEY: KEY, SURVEYCTL_BASE_URL: server.baseUrl };
  return runInProcess({ args: ["metrics", "--quiet", ...flags], env });
}

describe("the next step", () => {
  it("of a web page with status 200 asks for the base URL", async () => {
    const page = answer(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" });
    expect(await metrics(page)).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(
        /\nhint: this isn't the API; is the base URL right\?\n {6}the base URL comes from SURVEYCTL_BASE_URL\n$/,
      ),
    });
  });

  it("of a 500 and of a 429 says how often it was tried", async () => {
    const fault = await metrics(answer(500, "oops"), "--retries", "2", "--max-wait", "1");
    expect(fault.stderr).toBe(
      'error: the service answered 500 "oops"\n' +
        "hint: the fault is the service's: its log says more, and the same command may work later\n" +
        "      gave up after 3 tries\n",
    );
    const busy = await metrics(answer(429, "slow down"), "--retries", "1", "--max-wait", "1");
    expect(busy.stderr).toBe(
      'error: the service is rate limiting (429 "slow down")\n' +
        "hint: --rate keeps below the service's limit, --max-wait allows longer waits\n" +
        "      gave up after 2 tries\n",
    );
  });

  it("of a 422 names what is wrong, and not the status in words", async () => {
    const refusal = answer(422, '{"status":422,"message":"Unprocessable Entity","errors":{"trend":["is unknown"]}}');
    expect((await metrics(refusal)).stderr).toBe(
      'error: the service answered 422 "trend is unknown"\n' +
        "hint: correct what the service names; nothing was changed\n",
    );
  });

  it.each([
    ['{"message":"Unprocessable Entity","error":"trend is unknown"}', ' "trend is unknown"'],
    ['{"status":422,"message":"Unprocessable Entity"}', ""],
  ])("of the 422 %s leaves out what only names the status", async (body, said) => {
    const { stderr } = await metrics(answer(422, body));
    expect(stderr.split("\n")[0]).toBe(`error: the service answered 422${said}`);
  });

  it("of a web page in answer to a write asks for the base URL too", async () => {
    const page = answer(200, "<!doctype html><title>Sign in</title>", { "content-type": "text/html" });
    const server = await startMisbehavingServer({ script: [page, page] });
    onTestFinished(() => server.stop());
    const env = { HOME: "/nonexistent", SURVEYCTL_API_KEY: KEY, SURVEYCTL_BASE_URL: server.baseUrl };
    const args = ["people", "add", "--email", "ada@example.com", "--no-send", "--quiet"];
    expect((await runInProcess({ args, env })).stderr).toContain(
      '\nhint: this isn\'t the API; is the base URL right?\n      look with "surveyctl people get ada@example.com"',
    );
  });

  it("of a refused key names where the key comes from", async () => {
    expect((await metrics(answer(401, ""))).stderr).toBe(
      "error: the service refused the key with 401\n" +
        "hint: surveyctl auth status shows which key is used\n      the key comes from SURVEYCTL_API_KEY\n",
    );
  });
});

function refused(columns?: number, ...flags: readonly string[]): Promise<Finished> {
  const env = { HOME: "/nonexistent", SURVEYCTL_API_KEY: KEY, SURVEYCTL_BASE_URL: "http://127.0.0.1:9" };
  const args = ["metrics", "--no-color", "--quiet", ...flags];
  return runInProcess({ args, env, ...(columns !== undefined && { columns }) });
}

describe("an address where nothing listens", () => {
  it("is tried once on a terminal, and named with the variable that it comes from", async () => {
    expect((await refused(200)).stderr).toBe(
      "error: 127.0.0.1:9 refused the connection\n" +
        "hint: surveyctl auth status shows which address is used, and why\n" +
        "      the base URL comes from SURVEYCTL_BASE_URL\n",
    );
  });

  it("is tried again in a pipe, and on a terminal with --retries", async () => {
    expect((await refused()).stderr).toMatch(/\n {6}gave up after 6 tries\n$/);
    expect((await refused(200, "--retries", "1")).stderr).toMatch(/\n {6}gave up after 2 tries\n$/);
  });

  it("of a profile is named with the profile", async () => {
    const home = await mkdtemp(path.join(tmpdir(), "surveyctl-profile-"));
    onTestFinished(() => rm(home, { recursive: true }));
    const profiles = { prod: { base_url: "http://127.0.0.1:9", api_key: KEY } };
    const env = { HOME: home, XDG_CONFIG_HOME: home };
    await mkdir(path.join(home, "surveyctl"), { mode: 0o700 });
    const file = path.join(home, "surveyctl/config.json");
    await writeFile(file, JSON.stringify({ default_profile: "prod", profiles }), { mode: 0o600 });
    const { stderr } = await runInProcess({ args: ["metrics", "--retries", "0"], env });
    expect(stderr).toContain("\n      the base URL comes from profile prod\n");
  });
});

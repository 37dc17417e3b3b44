import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { runInProcess, type Finished } from "../../../helpers/in-process.ts";
import { startListService, type ListService } from "../../../helpers/list-service.ts";

const KEY = "key-of-the-auth-test";
let home = "";
let service: ListService;
beforeEach(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-auth-"));
  service = await startListService({ lists: { people: [] } });
});
afterEach(async () => {
  await service.stop();
  await rm(home, { recursive: true, force: true });
});

async function serveOnly(body: string): Promise<void> {
  await service.stop();
  service = await startListService({ lists: {}, onRequest: () => ({ status: 200, body }) });
}

const auth = (args: readonly string[], stdin = ""): Promise<Finished> =>
  runInProcess({ args: ["auth", ...args], env: { HOME: home, XDG_CONFIG_HOME: home }, stdin });

it("when a connection is saved, then it is listed without its key, and its file is its owner's alone", async () => {
  const saved = await auth(["login", "--base-url", service.baseUrl, "--profile", "prod"], KEY);
  expect(saved.status).toBe(0);
  const file = path.join(home, "surveyctl/config.json");
  expect([(await stat(file)).mode & 0o777, (await readFile(file, "utf8")).includes(KEY)]).toEqual([0o600, true]);
  const { stdout } = await auth(["list", "--json"]);
  expect([stdout.includes(service.baseUrl), stdout.includes(KEY)]).toEqual([true, false]);
});

it("when another profile is saved while a login waits, then both are there", async () => {
  const gate = path.join(home, "gate");
  const command = `while [ ! -e '${gate}' ]; do sleep 0.02; done; echo ${KEY}`;
  const slow = auth(["login", "--base-url", service.baseUrl, "--profile", "slow", "--key-command", command]);
  expect((await auth(["login", "--base-url", service.baseUrl, "--profile", "quick"], KEY)).status).toBe(0);
  await writeFile(gate, "");
  expect((await slow).stderr).toContain("surveyctl people list --profile slow");
  const { stdout } = await auth(["list", "--json", "--columns", "profile,default"]);
  expect(JSON.parse(stdout)).toEqual([
    { profile: "quick", default: true },
    { profile: "slow", default: false },
  ]);
});

it("when the answer is an object that holds no metrics, then nothing is saved", async () => {
  await serveOnly('{"ok":true}');
  expect(await auth(["login", "--base-url", service.baseUrl], KEY)).toMatchObject({
    status: 1,
    stderr:
      "error: the service answers without nps or response_count\n" +
      "hint: Nothing was saved. Is the base URL right? It is the part before /v1, such as https://surveys.example.com\n",
  });
  expect((await auth(["list", "--json"])).stdout).toBe("[]\n");
});

it.each(['{"nps":null}', '{"response_count":0,"more":1}'])(
  "when the answer is %s, then that is a service",
  async (body) => {
    await serveOnly(body);
    expect((await auth(["login", "--base-url", service.baseUrl], KEY)).status).toBe(0);
  },
);

it("when it is removed, then no connection is left", async () => {
  await auth(["login", "--base-url", service.baseUrl, "--profile", "prod"], KEY);
  expect((await auth(["logout", "--profile", "prod"])).status).toBe(0);
  expect((await auth(["list", "--json"])).stdout).toBe("[]\n");
});

it.each([[["use", "prod"]], [["logout", "--profile", "prod"]]])(
  "when %j is asked for and there is no such profile, then the error says how to create one",
  async (args) => {
    const { stderr } = await auth(args);
    expect(stderr).toBe('error: there is no profile "prod"\nhint: create one with: surveyctl auth login\n');
  },
);

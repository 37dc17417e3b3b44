import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { setTimeout } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { startProgram } from "../../helpers/run-cli.ts";

const DONE = 0;

it("when the server is frozen, then commands on its data file work all the same, and it finds what they did", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "surveyctl-frozen-"));
  const data = path.join(home, "survey.db");
  const env = { SURVEYCTL_API_KEY: KEY };
  const server = startProgram({ args: ["serve", "--data", data, "--port", "0"], home, env });
  onTestFinished(async () => {
    server.child.kill("SIGKILL");
    await server.ended;
    await rm(home, { recursive: true, force: true });
  });
  const [, address] = await server.saying(/^listening on (http\S+)$/m);
  const run = (command: string) => runInside({ args: command.split(" "), home });
  // A server frozen in the middle of a write would block the commands.
  await setTimeout(1500);
  server.child.kill("SIGSTOP");
  for (const command of [
    "service project add second",
    "service delivery resume",
    `service backup ${path.join(home, "copy.db")}`,
    "service throttle off",
  ])
    expect(await run(`${command} --data ${data}`)).toMatchObject({ status: DONE });
  server.child.kill("SIGCONT");
  const authorization = `Basic ${btoa(`${KEY}:`)}`;
  const ask = (): Promise<Response> => fetch(`${address}/v1/metrics.json`, { headers: { authorization } });
  expect((await ask()).status).toBe(200);
  expect((await run(`service project list --data ${data} -o ndjson`)).stdout).toMatch(/"name":"second"/);
});

const KEY = "a-key-for-this-test-alone-0123456789";

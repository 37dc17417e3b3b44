/** A server that is stopped as by a debugger or a frozen container: its port takes connections and nobody answers. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runInside } from "../../helpers/in-process.ts";
import { startProgram } from "../../helpers/run-cli.ts";

const DONE = 0;
const FAILED = 1;

it("when the server hangs, then each command gives up within 5 seconds with one sentence, and works when it goes on", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "surveyctl-hanging-"));
  const data = path.join(home, "survey.db");
  const server = startProgram({ args: ["serve", "--data", data, "--port", "0"], home });
  onTestFinished(async () => {
    server.child.kill("SIGKILL");
    await server.ended;
    await rm(home, { recursive: true, force: true });
  });
  const [, address] = await server.saying(/^listening on (http\S+)$/m);
  const ask = async (command: string): Promise<unknown> => {
    const startedMs = performance.now();
    const { status, stderr } = await runInside({ args: [...command.split(" "), "--data", data], home });
    return { status, stderr, isQuick: performance.now() - startedMs < 5000 };
  };
  server.child.kill("SIGSTOP");
  expect(await ask("service health")).toEqual({
    status: FAILED,
    stderr: `error: the service of ${data} does not answer within 4 s\n`,
    isQuick: true,
  });
  for (const command of ["service project list", "service delivery resume", "service backup copy.db"])
    expect(await ask(command)).toEqual({
      status: FAILED,
      stderr:
        `error: the service at ${address} (process ${server.child.pid}) does not answer within 4 s\n` +
        "hint: try again later, or end that process and start the service again\n",
      isQuick: true,
    });
  server.child.kill("SIGCONT");
  expect(await ask("service health")).toMatchObject({ status: DONE });
  expect(await ask("service project list")).toMatchObject({ status: DONE });
});

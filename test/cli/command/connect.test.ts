import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { describeWait } from "../../../src/cli/command/connect.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { answer, json, startMisbehavingServer } from "../../helpers/misbehaving-server.ts";

it.each([
  [0, "0ms"],
  [12.3, "13ms"],
  [100, "0.1s"],
  [9949, "9.9s"],
  [90_000, "90s"],
])("when it waits for %d milliseconds, then it says %s", (waitMs, time) => {
  const wait = {
    method: "GET",
    url: "http://h/v1/people.json",
    waitMs,
    reason: "h refused the connection",
    repeat: 1,
    retries: 5,
  };
  expect(describeWait(wait)).toBe(
    `waiting ${time} before repeat 1 of 5: GET http://h/v1/people.json: h refused the connection\n`,
  );
});

it.each([
  [
    [],
    (url: string) =>
      `waiting 1.0s before repeat 1 of 5: GET ${url}/v1/people.json: the service answered 503 and asks to wait 1 s\n`,
  ],
  [["--quiet"], () => ""],
])(
  "when the service asks for a second and the flags are %j, then one line or none says so",
  async (flags, expected) => {
    const home = await mkdtemp(path.join(tmpdir(), "surveyctl-wait-"));
    onTestFinished(async () => await rm(home, { recursive: true, force: true }));
    const server = await startMisbehavingServer({ script: [answer(503, "", { "retry-after": "1" }), json([])] });
    onTestFinished(async () => await server.stop());
    const args = ["people", "list", "--base-url", server.baseUrl, ...flags];
    const { status, stderr } = await runInProcess({ args, env: { HOME: home, SURVEYCTL_API_KEY: "key-of-the-wait" } });
    expect({ status, stderr }).toEqual({ status: 0, stderr: expected(server.baseUrl) });
  },
);

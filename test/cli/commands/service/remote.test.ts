import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it, onTestFinished } from "vitest";
import { runInside } from "../../../helpers/in-process.ts";
import { answer, type Behaviour, hangUp, startMisbehavingServer } from "../../../helpers/misbehaving-server.ts";

let home = "";
beforeAll(async () => {
  home = await mkdtemp(path.join(tmpdir(), "surveyctl-remote-"));
});
afterAll(() => rm(home, { recursive: true, force: true }));

async function throttleAt(...script: Behaviour[]) {
  const server = await startMisbehavingServer({ script });
  onTestFinished(() => server.stop());
  const { status, stdout, stderr } = await runInside({
    args: ["service", "throttle", "7d", "--base-url", server.baseUrl],
    home,
    env: { SURVEYCTL_API_KEY: "0123456789abcdef0123456789abcdef" },
  });
  const calls = server.requests.map(({ method, target, body }) => `${method} ${target} ${body}`.trim());
  return {
    status,
    stdout,
    stderr: stderr.replaceAll(server.baseUrl, "{url}").replaceAll(/127[.\d:]+/g, "{host}"),
    calls,
  };
}

const HTML = { "content-type": "text/html" };

it.each<[what: string, behaviour: Behaviour]>([
  ["404", answer(404, '{"status":404,"message":"Not Found"}')],
  ["404 in HTML", answer(404, "<html>", HTML)],
  ["405", answer(405, "")],
  ["410", answer(410, "")],
  ["a page", answer(200, "<html>", HTML)],
])("when the list of operations is answered with %s, then nothing is sent", async (_, behaviour) => {
  expect(await throttleAt(behaviour)).toEqual({
    status: 5,
    stdout: "",
    stderr: "error: this server has no administration over HTTP; run the command where its data is\n",
    calls: ["GET /v1/operations"],
  });
});

const LIST = answer(200, "[]", { "x-key-project": "acme" });

it.each<[what: string, behaviour: Behaviour, problem: string]>([
  [
    "a page",
    answer(200, "<html>", HTML),
    'the answer is not JSON (status 200, content type text/html, a body that begins "<html>")',
  ],
  ["nothing", answer(200, ""), "the answer is not JSON (status 200, content type application/json, an empty body)"],
  [
    "text",
    answer(200, '"x"'),
    'the answer is not JSON (status 200, content type application/json, a body that begins "\\"x\\"")',
  ],
  ["a broken connection", hangUp, "the connection to {host} broke before the answer was complete (other side closed)"],
])("when a change is answered with %s, then it is sent once and may have been made", async (_, behaviour, problem) => {
  expect(await throttleAt(LIST, behaviour)).toEqual({
    status: 1,
    stdout: "",
    stderr: [
      "note: project acme on {url}",
      `error: the request may or may not have been processed: ${problem}`,
      `hint: ${problem.includes("text/html") ? "this isn't the API; is the base URL right?\n      " : ""}surveyctl service log shows whether it was; look there before you repeat it`,
      "",
    ].join("\n"),
    calls: ["GET /v1/operations", 'POST /v1/operations/throttle {"interval":"7d"}'],
  });
});

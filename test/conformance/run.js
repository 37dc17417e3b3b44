// Runs the protocol's own suite against `surveyctl mcp` with a read-only key, in both protocol versions. Arguments: a
// Node 22 or newer to run the suite with, and the suite's file.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { AUTHORIZATION, bareEnvironment, PROGRAM, startService, temporaryFolder } from "../bench/programs.js";
import { openBridge } from "./bridge.js";

const [node, suite] = process.argv.slice(2);
const folder = temporaryFolder();
const dataFile = path.join(folder, "survey.db");
const service = await startService(dataFile);
await addResponse();
const bridge = await openBridge(process.execPath, [PROGRAM, "mcp"], {
  ...bareEnvironment(),
  HOME: folder,
  SURVEYCTL_BASE_URL: service.url,
  SURVEYCTL_API_KEY: readOnlyKey(),
});
for (const version of ["2025-11-25", "2026-07-28"]) {
  const expected = path.join(import.meta.dirname, "not-offered.yml");
  const which = ["--suite", "all", "--spec-version", version, "--expected-failures", expected];
  const child = spawn(node, [suite, "server", "--url", bridge.url, ...which], { stdio: "inherit", cwd: folder });
  const [status] = await once(child, "exit");
  if (status !== 0) process.exitCode = 1;
  bridge.reset();
}
bridge.close();
await service.stop();

async function addResponse() {
  const { id: person } = await post("/v1/people.json", { email: "ada@example.com", send: false });
  await post("/v1/survey_responses.json", { person, score: 9, comment: "Works every day for us." });
}

async function post(where, body) {
  const headers = { authorization: AUTHORIZATION, "content-type": "application/json" };
  const answer = await fetch(service.url + where, { method: "POST", headers, body: JSON.stringify(body) });
  return answer.json();
}

function readOnlyKey() {
  const words = ["service", "key", "add", "--read-only", "--columns", "key", "--data", dataFile, "-o", "json"];
  const text = execFileSync(process.execPath, [PROGRAM, ...words], { env: bareEnvironment(), encoding: "utf8" });
  return JSON.parse(text).key;
}

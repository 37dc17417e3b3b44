/** Importing a response takes two writes, the person's and the response's. */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { runInProcess, type Finished } from "../../../helpers/in-process.ts";
import { startListService } from "../../../helpers/list-service.ts";

const PERSON = { status: 200, body: '{"id":"7","email":"ann@example.com","properties":{}}' };
const RESPONSE = { status: 201, body: '{"id":"9","person":"7","score":9}' };
const BROKEN = { status: 500, body: '{"message":"boom"}' };

it("when the person could not be saved, then the response was not sent, and the next run adds it", async () => {
  let isBroken = true;
  const service = await startListService({
    lists: { people: [], survey_responses: [] },
    onRequest: ({ method, path: where }) => {
      if (method === "GET") return null;
      return isBroken ? BROKEN : where.includes("people") ? PERSON : RESPONSE;
    },
  });
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-steps-"));
  onTestFinished(async () => {
    await service.stop();
    await rm(folder, { recursive: true });
  });
  const file = path.join(folder, "r.csv");
  await writeFile(file, "person_email,score\nann@example.com,9\n");
  const run = (...flags: string[]): Promise<Finished> =>
    runInProcess({
      args: ["responses", "import", file, "--retries", "0", "--settle", "0", "--quiet", ...flags],
      env: { ...service.env, HOME: folder },
    });
  expect((await run()).status).toBe(3);
  isBroken = false;
  expect((await run("--resume")).status).toBe(0);
  expect(await readFile(`${file}.responses-import.results.csv`, "utf8")).toMatch(/\n2,ann@example\.com,saved,7,,,,\n$/);
});

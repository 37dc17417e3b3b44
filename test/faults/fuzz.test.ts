import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { constantFrom, integer, jsonValue, oneof, sample, string, tuple } from "fast-check";
import { expect, it, onTestFinished } from "vitest";
import { answer, startMisbehavingServer } from "../helpers/misbehaving-server.ts";
import { runInProcess } from "../helpers/in-process.ts";
import { everyCommand } from "./commands.ts";

const ROW = '{"id":1,"person":null,"email":{},"score":"9","created_at":"x","name":[1],"properties":3}';
const body = oneof(
  jsonValue().map((value) => JSON.stringify(value)),
  jsonValue().map((value) => `[{"id":"1","person_id":2,"score":9,"person":${JSON.stringify(value)},"name":${JSON.stringify(value)}}]`),
  string(),
  constantFrom("", "[]", "{}", "null", `[${ROW}]`, ROW, '{"errors":{"a":[null]}}', "<html><h1>x"),
);
const reply = tuple(
  oneof({ weight: 3, arbitrary: constantFrom(200, 200, 201) }, { weight: 1, arbitrary: integer({ min: 200, max: 599 }) }),
  body,
);

it("when anything at all is answered, then every command ends in a documented way", async () => {
  const home = await mkdtemp(path.join(tmpdir(), "surveyctl-fuzz-"));
  onTestFinished(async () => await rm(home, { recursive: true, force: true }));
  const replies = sample(reply, 900);
  let next = 0;
  const server = await startMisbehavingServer({
    script: () => {
      const [status, text] = replies[(next += 1) % replies.length] ?? [200, ""];
      return answer(status, text);
    },
  });
  onTestFinished(async () => await server.stop());
  const commands = (await everyCommand(home)).filter(({ name }) => !name.includes("import") && !name.includes("--from"));
  const wrong: string[] = [];
  while (next < replies.length) {
    for (const { name, args, stdin } of commands) {
      const all = [...args, "--retries", "0", "--quiet", "--timeout", "2", "--json", "--base-url", server.baseUrl];
      const env = { HOME: home, XDG_CONFIG_HOME: home, SURVEYCTL_API_KEY: "key-of-the-fuzz" };
      const { status, stderr } = await runInProcess({ args: all, env, ...(stdin !== undefined && { stdin }) });
      const fine = status === 0 || ([1, 4, 5].includes(status) && stderr.startsWith("error: ") && !stderr.includes('"code":"internal"'));
      if (!fine) wrong.push(`${name}: ${status} ${stderr.slice(0, 300)}`);
    }
  }
  expect([...new Set(wrong)].slice(0, 10)).toEqual([]);
});

import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import {
  json,
  startMisbehavingServer,
  type MisbehavingServer,
  type SeenRequest,
  type Behaviour,
} from "../helpers/misbehaving-server.ts";
import { runInProcess } from "../helpers/in-process.ts";
import { commandsIn, sampled, type Placed } from "./table.ts";

const GIVEN = /ann(?:@|%40)example\.com/i;
const ANSWERED = /zoe(?:@|%40)example\.com|Zoë Larsson|\+46701234567|46701234567|a dreadful day/i;
const PERSON = { id: "1", name: "Zoë Larsson", email: "zoe@example.com", phone_number: "+46701234567" };
const ROW = {
  ...PERSON,
  person: PERSON,
  person_id: "1",
  person_name: PERSON.name,
  person_email: PERSON.email,
  person_phone_number: PERSON.phone_number,
  score: 9,
  comment: 'a "dreadful day" \\ that\'s all: a dreadful day',
  notes: [{ text: "Zoë Larsson wrote", user_email: "zoe@example.com" }],
  additional_answers: [{ value: { free_response: "a dreadful day" } }],
};

let folder = "";
let good: MisbehavingServer;
let bad: MisbehavingServer;
let commands: readonly Placed[];

beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-personal-data-"));
  commands = (await commandsIn(folder)).filter(({ command }) => !command.name.includes("auth"));
  good = await startMisbehavingServer({ script: goodAnswer });
  bad = await startMisbehavingServer({
    script: () => json({ error: { message: "zoe@example.com is Zoë", email: ["zoe@example.com"] } }, {}, 422),
  });
});

afterAll(async () => {
  await good.stop();
  await bad.stop();
  await rm(folder, { recursive: true, force: true });
});

function goodAnswer({ method, target }: SeenRequest): Behaviour {
  const isList = method === "GET" && !/metrics|(?:autopilot|survey_responses)\/\w+\.json/.test(target);
  const headers = {
    location: "/v1/people.json?email=zoe%40example.com",
    link: '</v1/people.json?email=zoe%40example.com>; rel="prev"',
  };
  return json(isList ? [ROW] : ROW, headers);
}

async function traceOf(
  { baseUrl }: MisbehavingServer,
  flags: readonly string[],
  some = commands,
): Promise<readonly (readonly [name: string, trace: string])[]> {
  const traces: [string, string][] = [];
  for (const { command, home } of some) {
    for (const file of ["results.csv", "results.csv.journal"]) await rm(path.join(home, file), { force: true });
    const args = [...command.args, ...flags, "--retries", "0", "--base-url", baseUrl];
    const { stderr } = await runInProcess({ args, env: { HOME: home, SURVEYCTL_API_KEY: "key-of-personal-data" } });
    traces.push([command.name, linesOf(stderr)]);
  }
  return traces;
}

function linesOf(stderr: string): string {
  return stderr
    .split("\n")
    .filter((line) => /^[<>!] /.test(line))
    .join("\n");
}

function naming(traces: readonly (readonly [string, string])[], pattern: RegExp): string[] {
  return traces
    .filter(([, trace]) => pattern.test(trace))
    .map(([name, trace]) => `${name}: ${trace.split("\n").find((line) => pattern.test(line)) ?? ""}`);
}

it.each([
  ["that answers", () => good],
  ["that refuses", () => bad],
])("when bodies of a service %s are shown, then nobody is named", async (_, server) => {
  const traces = await traceOf(server(), ["--verbose", "--verbose"]);
  expect(traces.filter(([, trace]) => !/^[<>] {3}[[{]/m.test(trace))).toEqual([]);
  expect([...naming(traces, GIVEN), ...naming(traces, ANSWERED)]).toEqual([]);
});

it("when personal data is asked for, then it is shown", async () => {
  const traces = await traceOf(
    good,
    ["--verbose", "--verbose", "--show-personal-data"],
    sampled(commands, { share: 2, turn: 0 }),
  );
  expect(traces.filter(([, trace]) => !ANSWERED.test(trace)).map(([name]) => name)).toEqual([]);
});

it("when --verbose is given once, then no body is shown", async () => {
  const traces = await traceOf(good, ["--verbose", "--show-personal-data"], sampled(commands, { share: 2, turn: 1 }));
  expect(traces.filter(([, trace]) => !/^> 1 \w+ http/.test(trace) || /^[<>] {3}[[{]/m.test(trace))).toEqual([]);
});

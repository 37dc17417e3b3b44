import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { JsonObject } from "../../src/contract/json.ts";
import { json, startMisbehavingServer, type MisbehavingServer } from "../helpers/misbehaving-server.ts";
import { runInProcess, type Finished } from "../helpers/in-process.ts";

/** An OSC title, CSI colors in C0 and C1, a bell, a line break and bidirectional overrides. */
const NASTY = "Ann\u001b]0;owned\u0007\u001b[31m\u009b2J\u202egro\u2066x\r\u0000end";
const CONTROLS = /(?![\n\t])[\p{Cc}\u202A-\u202E\u2066-\u2069]/u;
const PERSON = { id: "1", person_id: "1", name: NASTY, email: "ann@example.com", properties: { [NASTY]: NASTY } };
const ROW = {
  ...PERSON,
  person: PERSON,
  comment: NASTY,
  score: 9,
  created_at: 1_700_000_000,
  person_properties: { plan: NASTY },
  tags: [NASTY],
};
const SINGLE: readonly (readonly [string, JsonObject | JsonObject[]])[] = [
  ["metrics", ROW],
  ["survey_responses/1", ROW],
  ["anything", [{ [NASTY]: 1 }]],
];

let good: MisbehavingServer;
let bad: MisbehavingServer;

beforeAll(async () => {
  good = await startMisbehavingServer({
    script: ({ method, target }) => {
      const [, single = [ROW]] = SINGLE.find(([part]) => target.includes(part)) ?? [];
      return json(method === "GET" ? single : ROW);
    },
  });
  bad = await startMisbehavingServer({ script: () => json({ error: NASTY }, {}, 422) });
});

afterAll(async () => {
  await good.stop();
  await bad.stop();
});

async function run({ baseUrl }: MisbehavingServer, args: readonly string[], columns?: number): Promise<Finished> {
  const env = { HOME: "/nonexistent", SURVEYCTL_API_KEY: "key-of-the-terminal", NO_COLOR: "1" };
  return await runInProcess({
    args: ["--base-url", baseUrl, "--retries", "0", ...args],
    env,
    ...(columns !== undefined && { columns }),
  });
}

const COMMANDS: readonly (readonly string[])[] = [
  ["people", "list"],
  ["people", "get", "ann@example.com"],
  ["people", "add", "--email", "ann@example.com"],
  ["responses", "list", "--expand", "person"],
  ["responses", "add", "--person-id", "1", "--score", "9"],
  ["autopilot", "list"],
  ["bounces", "list"],
];
const SHAPED: readonly (readonly string[])[] = [
  ["people", "list", "--query", "[0].name"],
  ["people", "list", "--query", "[0]"],
  ["responses", "tag", "--dry-run", "1", "+checked"],
  ["api", "/v1/anything.json", "-o", "table"],
];

describe("text of the service on a terminal", () => {
  it.for(COMMANDS)("when %s %s shows it, then no control gets through", async (args) => {
    for (const more of [[], ["--verbose", "--verbose", "--show-personal-data"]]) {
      const { status, stdout, stderr } = await run(good, [...args, ...more], 120);
      expect({ status, control: CONTROLS.exec(stdout + stderr)?.[0] }).toEqual({ status: 0, control: undefined });
      expect(stdout).toContain("Ann");
    }
  });

  it.for(SHAPED)("when %s %s %s shows a part of it, then no control gets through", async (args) => {
    const { status, stdout, stderr } = await run(good, args, 120);
    expect({ status, control: CONTROLS.exec(stdout + stderr)?.[0] }).toEqual({ status: 0, control: undefined });
    expect(stdout).toMatch(/Ann/i);
  });

  it.for(COMMANDS)("when %s %s tells an error, then no control gets through", async (args) => {
    const { status, stdout, stderr } = await run(
      bad,
      [...args, "--verbose", "--verbose", "--show-personal-data", "--json"],
      120,
    );
    expect({ status, stdout, control: CONTROLS.exec(stderr)?.[0] }).toEqual({
      status: 5,
      stdout: "",
      control: undefined,
    });
  });
});

describe("text of the service for a program", () => {
  it("when JSON is asked for, then it comes as it was sent", async () => {
    const { stdout } = await run(good, ["people", "list", "--json"]);
    expect(JSON.parse(stdout)).toEqual([ROW]);
  });

  it("when --query picks a text for a pipe, then it comes as it was sent", async () => {
    const { stdout } = await run(good, ["people", "list", "--query", "[0].name"]);
    expect(stdout).toBe(`${NASTY}\n`);
  });

  it("when CSV goes to a pipe, then it comes whole", async () => {
    const { stdout } = await run(good, ["people", "list", "-o", "csv", "--columns", "name"]);
    expect(stdout).toBe(`name\n"${NASTY}"\n`);
  });
});

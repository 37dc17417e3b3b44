import type { JsonObject } from "../../src/contract/json.ts";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { expect, it, onTestFinished } from "vitest";
import {
  answer,
  json,
  hangUp,
  reset,
  stall,
  startMisbehavingServer,
  type Behaviour,
  type SeenRequest,
} from "../helpers/misbehaving-server.ts";
import { runInside } from "../helpers/in-process.ts";
import { startProgram, type Ended } from "../helpers/run-cli.ts";

interface Person {
  readonly id: string;
  readonly email: string | null;
  readonly phone_number: string | null;
  readonly last_sent_at: number;
}

interface Plan {
  /** The number of surveys that get `answer`; later ones succeed. */
  readonly first: number;
  readonly latencyMs?: number;
  readonly answer: Behaviour;
  readonly lagging?: boolean;
  /** The service keeps the phone number and drops the email address. */
  readonly byNumber?: boolean;
}

interface Story {
  readonly ended: Ended;
  readonly surveys: () => readonly string[];
  readonly outcomes: readonly string[];
  readonly again: (...flags: string[]) => Promise<Ended>;
}

const addresses = (count: number): string[] =>
  Array.from({ length: count }, (_, index) => `new${String(index).padStart(2, "0")}@example.com`);

/** A service that executes requests whatever happens to the response. */
function laggingService(plan: Plan): { script: (request: SeenRequest) => Behaviour; surveys: () => string[] } {
  const people: Person[] = [];
  let asked = 0;
  const store = (body: string): JsonObject => {
    const { email = null, phone_number = null } = JSON.parse(body) as { email?: string; phone_number?: string };
    const now = Math.floor(Date.now() / 1000);
    const known = plan.byNumber === true ? null : email;
    people.push({ id: String(people.length + 1), email: known, phone_number, last_sent_at: now });
    return { id: String(people.length), email, phone_number, survey_scheduled_at: now };
  };
  const script = ({ method, target, body }: SeenRequest): Behaviour => {
    if (method === "GET") {
      const query = new URL(target, "http://x").searchParams;
      const [email, phone] = [query.get("email"), query.get("phone_number")];
      const found = people.filter((one) => (email !== null ? one.email === email : one.phone_number === phone));
      return json(plan.lagging === true ? [] : found);
    }
    asked += 1;
    if (asked > plan.first) return json(store(body), {}, 201);
    return async (socket, request) => {
      await new Promise((resolve) => setTimeout(resolve, plan.latencyMs ?? 0));
      store(body);
      await plan.answer(socket, request);
    };
  };
  return { script, surveys: () => people.map(({ email, phone_number: phone }) => email ?? phone ?? "").toSorted() };
}

async function importThrough(plan: Plan, rows: readonly string[], ...flags: string[]): Promise<Story> {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-late-"));
  const { script, surveys } = laggingService(plan);
  const server = await startMisbehavingServer({ script });
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const file = path.join(folder, "people.csv");
  await writeFile(file, `email,phone_number,channel\n${rows.join("\n")}\n`);
  const results = path.join(folder, "results.csv");
  const env = { SURVEYCTL_API_KEY: "key-of-the-late", SURVEYCTL_BASE_URL: server.baseUrl };
  const args = ["people", "import", file, "--send", "--quiet", "--results", results, "--timeout", "1", ...flags];
  const again = async (...more: string[]): Promise<Ended> =>
    await runInside({ args: [...args, ...more], home: folder, env });
  const ended = await again();
  const lines = (await readFile(results, "utf8")).trim().split("\n").slice(1);
  const outcomes = lines.map((line) => line.split(",").slice(1, 3).join(","));
  return { ended, surveys, outcomes, again };
}

it("when answers come after the timeout, then twenty new people get twenty surveys", async () => {
  const plan = { first: 8, latencyMs: 2500, answer: json({}) };
  const { ended, surveys, outcomes } = await importThrough(
    plan,
    addresses(20).map((one) => `${one},,`),
    "--settle",
    "5",
  );
  expect(surveys()).toEqual(addresses(20));
  expect(outcomes).toEqual(addresses(20).map((one) => `${one},scheduled`));
  expect(ended).toMatchObject({ status: 0, stderr: "" });
}, 60_000);

it("when work is later than the settling time, then it is unknown and nobody gets a second survey", async () => {
  const plan = { first: 1, latencyMs: 4000, answer: json({}) };
  const { ended, surveys, outcomes, again } = await importThrough(
    plan,
    addresses(3).map((one) => `${one},,`),
    "--settle",
    "1",
    // One at a time, so that the first row meets the delay.
    "--concurrency",
    "1",
  );
  expect(outcomes).toEqual(["new00@example.com,unknown", "new01@example.com,scheduled", "new02@example.com,scheduled"]);
  expect(ended.status).toBe(3);
  expect(surveys()).toEqual(addresses(3).slice(1));
  await expect.poll(surveys, { timeout: 30_000 }).toEqual(addresses(3));
  expect((await again("--resume")).status).toBe(0);
  expect(surveys()).toEqual(addresses(3));
}, 60_000);

it.each<[string, Behaviour]>([
  ["202 and a word", answer(202, "accepted", { "content-type": "text/plain" })],
  ["204", answer(204, "", { "content-length": null })],
  ["HTML", answer(200, "<html>", { "content-type": "text/html" })],
  ["an error under 200", json({ error: "no credit" })],
  ["a reset", reset],
  ["504", answer(504, "")],
])(
  "when every answer is %s and the list lags, then each person gets one survey",
  async (_, odd) => {
    const { ended, surveys, outcomes } = await importThrough(
      { first: 99, answer: odd, lagging: true },
      addresses(3).map((one) => `${one},,`),
      "--settle",
      "1",
    );
    expect(surveys()).toEqual(addresses(3));
    expect(outcomes).toEqual(addresses(3).map((one) => `${one},unknown`));
    expect(ended.status).toBe(3);
  },
  60_000,
);

const html = answer(200, "<html>", { "content-type": "text/html" });
const SUCCESSES: readonly [string, Behaviour][] = [
  ["202", answer(202, "")],
  ["204", answer(204, "", { "content-length": null })],
  ["HTML", html],
  ["an error under 200", json({ error: "no credit" })],
  ["null", json(null)],
  ["207 and a list", json([], {}, 207)],
];
const LOSSES: readonly [string, Behaviour][] = [
  ["500", answer(500, "")],
  ["504", answer(504, "")],
  ["408", answer(408, "")],
  ["303", answer(303, "", { location: "/done" })],
  ["a cut connection", hangUp],
  ["nothing", stall],
];

it.each<[string, Behaviour, number[]]>([
  ...SUCCESSES.map(([name, odd]): [string, Behaviour, number[]] => [name, odd, [3, 3, 3, 3, 6, 6]]),
  ...LOSSES.map(([name, odd]): [string, Behaviour, number[]] => [name, odd, [3, 6, 6, 6, 9, 9]]),
])(
  "when every answer is %s and the list never shows anybody, then runs repeat a loss once and a success never",
  async (_, odd, expected) => {
    const rows = addresses(3).map((one) => `${one},,`);
    const { ended, surveys, again } = await importThrough(
      { first: 99, answer: odd, lagging: true },
      rows,
      "--settle",
      "0",
    );
    const told = [[ended.status, surveys().length]];
    for (const flags of [[], [], [], ["--retry-unknown"], []]) {
      const { status } = await again("--resume", ...flags);
      told.push([status, surveys().length]);
    }
    expect(told).toEqual(expected.map((count) => [3, count]));
  },
  60_000,
);

it.each<[string, Behaviour, number, number]>([
  ["a success without a body is looked up", answer(202, ""), 1, 1],
  ["a request is on its way, and again while it is repeated", stall, 2, 3],
])(
  "when a run is killed while %s, then the next one repeats a loss, and none a success",
  async (_, odd, kills, posts) => {
    const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-killed-"));
    let asked = 0;
    let lookUps = 0;
    const server = await startMisbehavingServer({
      script: ({ method, target }) => {
        if (method === "POST") asked += 1;
        else if (target.includes("email=")) lookUps += 1;
        return method === "POST" ? odd : json([]);
      },
    });
    onTestFinished(async () => {
      await server.stop();
      await rm(folder, { recursive: true, force: true });
    });
    const file = path.join(folder, "people.csv");
    await writeFile(file, "email\nnew@example.com\n");
    const env = { SURVEYCTL_API_KEY: "key-of-the-late", SURVEYCTL_BASE_URL: server.baseUrl };
    const args = ["people", "import", file, "--send", "--quiet"];
    for (let kill = 1; kill <= kills; kill += 1) {
      const resume = kill === 1 ? [] : ["--resume", "--settle", "0"];
      const { child, ended } = startProgram({ args: [...args, ...resume], home: folder, env });
      child.stdin.end();
      await expect.poll(() => asked === kill && (odd === stall || lookUps > 0), { timeout: 30_000 }).toBe(true);
      child.kill("SIGKILL");
      expect((await ended).signal).toBe("SIGKILL");
    }
    const told = [];
    for (const flags of [[], [], ["--retry-unknown"]]) {
      const resume = ["--resume", "--settle", "0", "--timeout", "1", ...flags];
      const { status } = await runInside({ args: [...args, ...resume], home: folder, env });
      told.push([status, asked]);
    }
    expect(told).toEqual([
      [3, posts],
      [3, posts],
      [3, posts + 1],
    ]);
  },
);

function answerTo(email: string): Behaviour {
  if (email.startsWith("lost")) return answer(500, "");
  return email.startsWith("bad") ? json({ errors: {} }, {}, 422) : json({ id: "1", email, survey_scheduled_at: 1 });
}

it("when rows failed and others are unknown, then the failed ones alone are written to be corrected", async () => {
  const folder = await mkdtemp(path.join(tmpdir(), "surveyctl-failed-"));
  const server = await startMisbehavingServer({
    script: ({ method, body }) =>
      method === "POST" ? answerTo((JSON.parse(body) as { readonly email: string }).email) : json([]),
  });
  onTestFinished(async () => {
    await server.stop();
    await rm(folder, { recursive: true, force: true });
  });
  const [file, failed] = [path.join(folder, "people.csv"), path.join(folder, "failed.csv")];
  await writeFile(file, "email,name\nfine@x.co,A\nlost@x.co,B\nbad@x.co,C\n");
  const args = ["people", "import", file, "--send", "--quiet", "--settle", "0", "--failed-to", failed];
  const env = { SURVEYCTL_API_KEY: "key-of-the-late", SURVEYCTL_BASE_URL: server.baseUrl };
  const { status } = await runInside({ args, home: folder, env });
  expect([status, await readFile(failed, "utf8")]).toEqual([3, "email,name\nbad@x.co,C\n"]);
});

it("when the service knows the person by the number alone, then the survey is found", async () => {
  const { ended, surveys, outcomes } = await importThrough(
    { first: 1, answer: reset, byNumber: true },
    ["new@example.com,+14155550000,sms"],
    "--settle",
    "1",
  );
  expect({ status: ended.status, surveys: surveys(), outcomes }).toEqual({
    status: 0,
    surveys: ["+14155550000"],
    outcomes: ["new@example.com,scheduled"],
  });
});

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withoutUndo } from "../../helpers/imported.ts";
import { runInProcess } from "../../helpers/in-process.ts";
import { json, startMisbehavingServer } from "../../helpers/misbehaving-server.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

let service: Served;
beforeAll(async () => {
  service = await startServe();
  const add = (...args: string[]) => service.run(["people", "add", "--quiet", ...args]);
  await add("--email", "recent@example.com", "--no-send", "--last-sent-at", "2d");
  await add("--email", "older@example.com", "--no-send", "--last-sent-at", "9d");
  await add("--email", "waits@example.com", "--delay", "1d");
  for (const member of ["member1@example.com", "member2@example.com"]) {
    await add("--email", member, "--no-send", "--last-sent-at", "40d");
    await service.run(["autopilot", "add", "--quiet", "--email", member]);
  }
  await add("--email", "left@example.com", "--no-send");
  await service.run(["api", "POST", "/v1/unsubscribes.json", "-f", "person_email=left@example.com"]);
});
afterAll(() => service.stop());

const PEOPLE = ["new1", "recent", "older", "waits", "left", "new2"].map((name) => `${name}@example.com`);

async function fileOf(name: string, emails: readonly string[]): Promise<string> {
  const file = path.join(service.folder, name);
  await writeFile(file, `email\n${emails.join("\n")}\n`);
  return file;
}

async function onTerminal(args: readonly string[], stdin: string, env = service.env): Promise<string> {
  const ended = await runInProcess({ args, env: { ...env, HOME: service.folder, TZ: "UTC" }, stdin, columns: 100 });
  const text = stripVTControlCharacters(ended.stderr).replaceAll("\r", "");
  return text.slice(text.indexOf("Rows "));
}

const dayIn = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

test("when a plan is asked about, then those who will not be surveyed are counted with their reasons", async () => {
  const file = await fileOf("plan.csv", PEOPLE);
  const screen = await onTerminal(["people", "import", file, "--tz", "UTC"], "n\n");
  expect(screen).toBe(
    "Rows            6\nEmails          2\nText messages   0\nNo survey       4\nSkipped         0\n" +
      `Send 2 emails? 2 throttled until ${dayIn(28)} at the latest, 1 already scheduled, 1 unsubscribed ` +
      "will be saved without a survey [y/N] n\nCancelled. Nothing was sent.\n",
  );
});

test("the plan counts values that stand for nothing, and says so once", async () => {
  const file = path.join(service.folder, "nothing.csv");
  await writeFile(file, "email,name\nnew3@example.com,NULL\nnew4@example.com,NULL\n");
  const screen = await onTerminal(["people", "import", file, "--send"], "n\n");
  expect(screen).toContain(
    'Warning         nothing.csv: lines 2–3 (2 rows): name: "NULL" is imported as text\nSend 2 emails?',
  );
  expect(screen.split("NULL")).toHaveLength(2);
});

test.each<[string, readonly string[], string, string]>([
  ["no delay", [], "", "Send 2 emails? [y/N]"],
  ["a delay", ["--delay", "25d"], "", "Save 2 people without a survey? 2 already scheduled"],
  ["a delay of its own", [], "25d", "Send 1 email? 1 already scheduled"],
  ["surveys that are spaced", ["--spread", "50d"], "", "Send 1 email? 1 already scheduled"],
])("when Autopilot surveys people in 50 days, then a plan with %s counts by it", async (_, args, delay, question) => {
  const file = path.join(service.folder, "delayed.csv");
  await writeFile(file, `email,delay\nmember1@example.com,\nmember2@example.com,${delay}\n`);
  expect(await onTerminal(["people", "import", file, "--send", ...args], "n\n")).toContain(question);
});

test("when nobody will be surveyed, then the question is about saving", async () => {
  const file = await fileOf("none.csv", ["left@example.com"]);
  const screen = await onTerminal(["people", "import", file], "n\n");
  expect(screen).toContain("Save 1 person without a survey? 1 unsubscribed will be saved without a survey [y/N] n");
});

test("when more than 100 people are in a file, then each hundred is asked for at once", async () => {
  const file = await fileOf("many.csv", [
    ...Array.from({ length: 230 }, (_, at) => `many${at}@example.com`),
    ...PEOPLE,
  ]);
  const screen = await onTerminal(["people", "import", file], "n\n");
  expect(screen).toContain("Send 232 emails? 2 throttled until ");
});

test("when it is sent, then each reason is an outcome of its own, in results, summary and JSON", async () => {
  const file = await fileOf("sent.csv", PEOPLE);
  const ended = await service.run(["people", "import", file, "--send", "--tz", "UTC", "--json"]);
  expect(JSON.parse(ended.stdout)).toMatchObject({
    scheduled: 2,
    saved: 0,
    failed: 0,
    unknown: 0,
    skipped: 0,
    pending: 1,
    throttled: 2,
    suppressed: 1,
    remaining: 0,
  });
  expect([ended.status, ended.stderr.split(" in ")[0]]).toEqual([
    0,
    '{"note":"2 scheduled, 1 pending, 2 throttled, 1 suppressed',
  ]);
  const rows = (await readFile(`${file}.people-import.results.csv`, "utf8")).trimEnd().split("\n").slice(1);
  expect(rows.map((row) => withoutUndo(row).replace(/^\d+,([^,]+),(\w+),\d+,[^,]*,/, "$1 $2 "))).toEqual([
    "new1@example.com scheduled ",
    `recent@example.com throttled "surveyed on ${dayIn(-2)}, throttled until ${dayIn(28)}"`,
    `older@example.com throttled "surveyed on ${dayIn(-9)}, throttled until ${dayIn(21)}"`,
    expect.stringMatching(/^waits@example\.com pending a survey is already scheduled for 20\d\d-\d\d-\d\d \d\d:\d\d$/),
    `left@example.com suppressed unsubscribed on ${dayIn(0)}`,
    "new2@example.com scheduled ",
  ]);
  const status = await service.run(["imports", "list", file, "--json"]);
  expect(JSON.parse(status.stdout)).toMatchObject([{ status: "finished", throttled: 2, pending: 1, remaining: 0 }]);
});

test("when sending is paused, then plan and summary say that the surveys wait", async () => {
  await service.run(["service", "pause", "--data", service.dataFile]);
  const file = await fileOf("paused.csv", ["paused@example.com"]);
  const screen = await onTerminal(["people", "import", file, "--send"], "y\n");
  await service.run(["service", "resume", "--data", service.dataFile]);
  expect(screen).toContain("Paused          surveys wait until sending is resumed\nSend 1 email? [y/N] ");
  expect(screen).toContain("1 survey waits: sending is paused\n");
});

test("when a service knows the published API alone, then nothing else is asked of it, and rows are saved", async () => {
  const server = await startMisbehavingServer({
    script: ({ method }) =>
      json(method === "GET" ? [] : { id: "1", email: "a@example.com", survey_scheduled_at: null }),
  });
  try {
    const file = await fileOf("foreign.csv", ["a@example.com"]);
    const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "a-key" };
    const screen = await onTerminal(["people", "import", file, "--send"], "y\n", env);
    expect(screen).toContain("Send 1 email? [y/N] ");
    expect(screen).toContain(
      "1 row not scheduled: surveyed recently, already scheduled, unsubscribed or bounced\nresults: ",
    );
    expect(server.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "GET /v1/people.json?per_page=1",
      "POST /v1/people.json?expand[]=before",
    ]);
    expect(await readFile(`${file}.people-import.results.csv`, "utf8")).toBe(
      "line,identifier,outcome,person_id,survey_scheduled_at,error,person,before\n" +
        '2,a@example.com,saved,1,,"not scheduled: surveyed recently, already scheduled, unsubscribed or bounced",,\n',
    );
  } finally {
    await server.stop();
  }
});

test("when rows are refused, then their reasons are grouped, the most frequent first, and no resume is advised", async () => {
  const server = await startMisbehavingServer({
    script: ({ method, body }) => {
      if (method === "GET") return json([]);
      if (body.includes("large")) return json({ message: "Payload Too Large" }, {}, 413);
      return body.includes("odd") ? json({ message: "odd" }, {}, 422) : json({ id: "1", survey_scheduled_at: 9 });
    },
  });
  try {
    const file = path.join(service.folder, "refused.csv");
    const large = "x".repeat(1024 * 1024);
    await writeFile(file, `email,note\nlarge@example.com,${large}\nodd1@x.co,\nodd2@x.co,\nok@x.co,\n`);
    const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "a-key" };
    const failedTo = path.join(service.folder, "refused-rows.csv");
    const { status, stderr } = await service.run(["people", "import", file, "--send", "--failed-to", failedTo], {
      env,
    });
    expect([status, ...stderr.trimEnd().split("\n").slice(1)]).toEqual([
      3,
      '2 rows: the service answered 422 "odd"',
      "1 row: the service answered 413, the row is larger than 1 MiB",
      `results: ${file}.people-import.results.csv`,
      `Refused rows would be refused again: correct them and import them as a new file (they are in ${failedTo})`,
    ]);
  } finally {
    await server.stop();
  }
});

test("when the service itself failed, then a resume is advised", async () => {
  const server = await startMisbehavingServer({
    script: ({ method }) => (method === "GET" ? json([]) : json({ message: "broken" }, {}, 500)),
  });
  try {
    const file = await fileOf("broken.csv", ["broken@example.com"]);
    const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "a-key", SURVEYCTL_SETTLE: "0" };
    const { stderr } = await service.run(["people", "import", file, "--no-send", "--retries", "0"], { env });
    expect(stderr).toContain(`1 row: the service answered 500 "broken"\n`);
    expect(stderr).toContain(
      `To retry the failed rows: surveyctl people import ${file} --no-send --retries 0 --resume\n`,
    );
    // The row counts as failed rather than unknown, because saving a person twice is harmless.
    const failedTo = path.join(service.folder, "broken-rows.csv");
    await service.run(["people", "import", file, "--no-send", "--retries", "0", "--resume", "--failed-to", failedTo], {
      env,
    });
    expect(await readFile(failedTo, "utf8")).toBe("email\nbroken@example.com\n");
  } finally {
    await server.stop();
  }
});

const OVER =
  "email,name,note,score,comment\n" +
  `a@example.com,${"é".repeat(256)},,9,\nb@example.com,ok,${"v".repeat(70_000)},9,\n` +
  `c@example.com,ok,,9,${"w".repeat(65_537)}\nd@example.com,ok,,9,\n`;

test("limits of our own service are checked before anything is sent to it", async () => {
  const file = path.join(service.folder, "over.csv");
  await writeFile(file, OVER);
  const problems = [
    "over.csv:2: name: has 256 characters; at most 255 are allowed",
    "over.csv:3: properties: has 70023 bytes; at most 65536 are allowed",
  ];
  for (const flags of [["--dry-run"], []]) {
    const { status, stderr } = await service.run(["people", "import", file, "--no-send", ...flags]);
    expect([status, stderr.split("\n").slice(0, 2)]).toEqual([2, problems]);
  }
  const responses = await service.run(["responses", "import", file, "--dry-run"]);
  expect(responses.stderr).toContain("over.csv:4: comment: has 65537 bytes; at most 65536 are allowed\n");
  const skipped = await service.run(["people", "import", file, "--no-send", "--skip-invalid"]);
  expect([skipped.status, skipped.stderr]).toEqual([0, expect.stringContaining("1 saved, 3 skipped in ")]);
});

test("another service is sent what our own does not take", async () => {
  const server = await startMisbehavingServer({
    script: ({ method }) => json(method === "GET" ? [] : { id: "1", survey_scheduled_at: 9 }),
  });
  try {
    const file = path.join(service.folder, "over-elsewhere.csv");
    await writeFile(file, OVER);
    const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "a-key" };
    const { status, stderr } = await service.run(["people", "import", file, "--no-send"], { env });
    expect([status, stderr]).toEqual([0, expect.stringMatching(/^4 scheduled in /)]);
    expect(server.requests.filter(({ method }) => method === "POST")).toHaveLength(4);
  } finally {
    await server.stop();
  }
});

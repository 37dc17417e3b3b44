import { writeFile } from "node:fs/promises";
import path from "node:path";
import { stripVTControlCharacters } from "node:util";
import { afterAll, beforeAll, expect, test } from "vitest";
import { runInProcess } from "../../helpers/in-process.ts";
import { json, startMisbehavingServer } from "../../helpers/misbehaving-server.ts";
import { startServe, type Served } from "../../helpers/serve.ts";

let service: Served;
beforeAll(async () => {
  service = await startServe();
  const add = (...args: string[]) => service.run(["people", "add", "--quiet", "--no-send", ...args]);
  await add("--email", "ann@example.com", "--phone", "+14155550321");
  await add("--phone", "+14155550322");
  await add("--email", "recent@example.com", "--last-sent-at", "2d");
  await add("--email", "left@example.com");
  await service.run(["api", "POST", "/v1/unsubscribes.json", "-f", "person_email=left@example.com"]);
});
afterAll(() => service.stop());

const ROWS = ",+14155550321\n,+14155550322\n,+14155550323\nnew@example.com,\nrecent@example.com,\nleft@example.com,\n";

async function fileOf(name: string, text: string): Promise<string> {
  const file = path.join(service.folder, name);
  await writeFile(file, text);
  return file;
}

async function onTerminal(args: readonly string[], stdin = ""): Promise<string> {
  const env = { ...service.env, HOME: service.folder, TZ: "UTC" };
  const { screen } = await runInProcess({ args, env, stdin, columns: 100 });
  return stripVTControlCharacters(screen).replaceAll("\r", "");
}

test("dry run, plan, question and run count the same surveys", async () => {
  const file = await fileOf("same.csv", `email,phone\n${ROWS}`);
  const args = ["people", "import", file, "--send"];
  const dry = await service.run([...args, "--dry-run"]);
  expect(dry.stderr).toMatch(
    /^note: 6 rows: 2 emails, 0 text messages, 4 with no survey \(1 throttled until \S+ at the latest, 1 unsubscribed, 2 without an address\), 0 skipped; 3 requests shown, nothing was sent$/m,
  );
  const plan = "Rows            6\nEmails          2\nText messages   0\nNo survey       4\nSkipped         0\n";
  expect(await onTerminal([...args, "--dry-run"])).toContain(plan);
  const asked = await onTerminal(args, "n\n");
  expect([asked.includes(plan), asked.includes("Send 2 emails? ")]).toEqual([true, true]);
  const skipping = await service.run([...args, "--skip-suppressed", "--dry-run"]);
  expect(skipping.stderr).toContain("6 rows: 2 emails, 0 text messages, 3 with no survey (");
  expect(skipping.stderr).toContain("1 skipped; ");
  expect(JSON.parse((await service.run([...args, "--json"])).stdout)).toMatchObject({ scheduled: 2 });
});

test("on a terminal a dry run shows the mapping, three rows and the plan", async () => {
  const text =
    "E-Mail Address,First name,Last name,Plan,id,last_sent_at\na@example.com,A,B,pro,1,\nb@example.com,,,,2,1790848800\n";
  const file = await fileOf("mapped.csv", `${text}c@example.com,C,,,3,\nd@example.com,D,,,4,\n`);
  const flags = ["--map", "E-Mail Address=email", "--map", "First name+Last name=name"];
  const screen = await onTerminal(["people", "import", file, "--send", "--dry-run", ...flags]);
  expect(
    screen
      .split("\n")
      .map((line) => line.trimEnd())
      .join("\n"),
  ).toBe(
    [
      "note: ignored id: only the service sets it",
      "COLUMN          BECOMES",
      "E-Mail Address  email",
      "First name      name",
      "Last name       part of name",
      "Plan            property Plan",
      "id              ignored",
      "last_sent_at    last_sent_at",
      "",
      "EMAIL          NAME  PLAN  LAST SENT",
      "a@example.com  A B   pro",
      "b@example.com              2026-10-01 10:00:00",
      "c@example.com  C",
      "",
      `Service         ${service.baseUrl}`,
      "Rows            4",
      "Emails          4",
      "Text messages   0",
      "No survey       0",
      "Skipped         0",
      "note: 3 rows shown, nothing was sent",
      "",
    ].join("\n"),
  );
  const lines = (await onTerminal(["people", "import", file, "--send", "--dry-run", "-o", "json", ...flags])).split(
    "\n",
  );
  expect(lines.filter((line) => line.startsWith('{"method":"POST"'))).toHaveLength(3);
});

test("a service that can't be asked is named, and the numbers are those of the file", async () => {
  const file = await fileOf("alone.csv", `email,phone\n${ROWS}`);
  const args = ["people", "import", file, "--send", "--dry-run"];
  const offline = await service.run(args, { env: { SURVEYCTL_BASE_URL: "http://127.0.0.1:9" } });
  expect([offline.status, offline.stderr]).toEqual([
    0,
    "note: the service was not asked: 127.0.0.1:9 refused the connection\n" +
      "note: 6 rows: 6 emails, 0 text messages, 0 with no survey, 0 skipped; 3 requests shown, nothing was sent\n",
  ]);
  const { status, stderr } = await runInProcess({ args, env: { HOME: service.folder } });
  expect([status, stderr]).toEqual([0, expect.stringMatching(/^note: 6 rows: 6 emails, /)]);
});

test("a dry run writes nothing to the service, and asks nothing that the published API lacks", async () => {
  const server = await startMisbehavingServer({ script: () => json([]) });
  try {
    const file = await fileOf("foreign.csv", `email,phone\n${ROWS}`);
    const env = { SURVEYCTL_BASE_URL: server.baseUrl, SURVEYCTL_API_KEY: "a-key" };
    expect((await service.run(["people", "import", file, "--send", "--dry-run"], { env })).status).toBe(0);
    expect(server.requests.map(({ method, target }) => `${method} ${target}`)).toEqual([
      "GET /v1/people.json?per_page=1",
    ]);
  } finally {
    await server.stop();
  }
});

import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, expect, it, test } from "vitest";
import { type PublishedService, startPublishedService } from "../../../helpers/published-service.ts";
import type { Ended } from "../../../helpers/run-cli.ts";
import { type Served, startServe } from "../../../helpers/serve.ts";

let served: Served;
let published: PublishedService;
beforeAll(async () => {
  served = await startServe();
  published = await startPublishedService(served);
  const add = (...args: string[]): Promise<Ended> => served.run(["people", "add", "--quiet", ...args]);
  await add("--email", "ann@example.com", "--name", "Ann", "--no-send", "--property", "plan=pro");
  await add("--email", "bob@example.com", "--no-send", "--last-sent-at", "2026-01-31");
  await add("--phone", "+14155550101", "--no-send");
  await served.run(["autopilot", "add", "--email", "ann@example.com", "--quiet"]);
  await served.run(["responses", "add", "--email", "bob@example.com", "--score", "3", "--comment", "Slow"]);
  await served.run(["people", "unsubscribe", "bob@example.com", "--yes"]);
}, 60_000);
afterAll(async () => {
  await published.stop();
  await served.stop();
});

const run = (...args: string[]): Promise<Ended> => served.run(args, { env: published.env });
async function idOf(email: string): Promise<string> {
  return (await run("people", "list", "--email", email, "--columns", "id")).stdout.trim();
}
const count = async (...filters: string[]): Promise<string> =>
  (await run("people", "list", "--count", ...filters)).stdout;
it.each([
  [["people", "delete", "ann@example.com"], "this service cannot delete people"],
  [["people", "delete", "nobody@example.com"], "no person found with email nobody@example.com"],
  [["people", "delete", "77"], "no person found with id 77, or this service cannot delete people"],
  [["people", "cancel", "ann@example.com"], "this service cannot cancel surveys"],
  [["people", "unsubscribe", "ann@example.com"], "this service cannot unsubscribe people"],
  [["people", "unsubscribe", "+14155550101"], "+14155550101 has no e-mail address"],
  [["responses", "delete", "77"], "no response with id 77, or this service cannot delete responses"],
])("when %j is asked of it, then it says what this service cannot", async (args, words) => {
  expect(await run(...args, "--yes")).toMatchObject({ status: 5, stderr: `error: ${words}\n` });
});

test("when somebody is to be subscribed again, then it says that this service cannot", async () => {
  expect(await run("people", "resubscribe", "bob@example.com", "--note", "asked")).toMatchObject({
    status: 5,
    stderr: "error: this service cannot resubscribe people\n",
  });
});

test("when a survey is to be sent at another time, then it says that this service cannot", async () => {
  expect(await run("people", "reschedule", "ann@example.com", "--to", "+5d")).toMatchObject({
    status: 5,
    stderr: "error: this service cannot reschedule surveys\n",
  });
});

test("when a member is to be moved, then it says that this service cannot", async () => {
  expect(await run("autopilot", "move", "ann@example.com", "--to", "sms")).toMatchObject({
    status: 5,
    stderr: "error: this service cannot move members\n",
  });
  expect((await run("autopilot", "list", "--columns", "person_email")).stdout).toBe("ann@example.com\n");
});

test("when an import is to be undone, then it says that this service cannot, and who was created isn't known", async () => {
  const file = path.join(served.folder, "new.csv");
  await writeFile(file, "email\nnew@example.com\n");
  expect(await run("people", "import", file, "--no-send", "--yes", "--quiet")).toMatchObject({ status: 0, stderr: "" });
  expect(await readFile(`${file}.people-import.results.csv`, "utf8")).toMatch(/^2,new@example\.com,saved,\d+,,,,$/m);
  expect(await run("imports", "undo", file, "--yes")).toMatchObject({
    status: 5,
    stderr: "error: this service cannot undo imports\n",
  });
  expect(await count("--email", "new@example.com")).toBe("1\n");
  await served.run(["people", "delete", "new@example.com", "--yes"]);
});

test("when several are to be deleted, then each has its row, and each failure its line", async () => {
  expect(await run("people", "delete", "ann@example.com", "bob@example.com", "--yes")).toEqual({
    status: 5,
    signal: null,
    stdout: [
      "ann@example.com\tfailed\tthis service cannot delete people\n",
      "bob@example.com\tfailed\tthis service cannot delete people\n",
    ].join(""),
    stderr: [
      "error: ann@example.com: this service cannot delete people\n",
      "error: bob@example.com: this service cannot delete people\n",
    ].join(""),
  });
});

test("when a person is shown, then it is what the lists tell", async () => {
  const [ann, bob] = await Promise.all(
    ["ann@example.com", "bob@example.com"].map(async (email) =>
      JSON.parse((await run("people", "show", email, "--json")).stdout),
    ),
  );
  expect(ann).toMatchObject({
    email: "ann@example.com",
    autopilot: { email: { person: { email: "ann@example.com" } }, sms: null },
    responses: [],
    explanation: expect.stringMatching(
      /^Will be surveyed: a survey is already scheduled for \d{4}-\d\d-\d\d \d\d:\d\d\.$/,
    ),
  });
  expect(bob).toMatchObject({
    responses: [{ score: 3, comment: "Slow" }],
    explanation: expect.stringMatching(/^Will not be surveyed: unsubscribed on \d{4}-\d\d-\d\d\.$/),
  });
  expect("properties" in ann).toBe(false);
});

test("when a person is shown by id, then answers and memberships name them", async () => {
  const ids = await Promise.all(["ann@example.com", "bob@example.com"].map(idOf));
  const shown = await Promise.all(ids.map((id) => run("people", "show", id, "--columns", "email")));
  expect(shown.map(({ stdout }) => stdout)).toEqual(["ann@example.com\n", "bob@example.com\n"]);
  expect(await run("people", "show", "77")).toMatchObject({
    status: 5,
    stderr: [
      "error: no person found with id 77, or this service cannot look people up by id\n",
      "hint: use an email address or a phone number\n",
    ].join(""),
  });
});

test("when properties are asked for, then it says that this service keeps none", async () => {
  const none = "this service keeps no properties of people";
  expect(await run("people", "list", "--property", "plan=pro")).toMatchObject({
    status: 5,
    stdout: "",
    stderr: expect.stringMatching(`^error: ${none}\n`),
  });
  expect(await run("people", "update", "ann@example.com", "--property", "plan=pro", "--quiet")).toMatchObject({
    status: 0,
    stderr: "",
  });
  expect((await run("people", "update", "ann@example.com", "--property", "plan=pro")).stderr).toBe(`note: ${none}\n`);
  const flat = await run("people", "export", "--flatten", "--columns", "email");
  expect([flat.stdout, flat.stderr]).toEqual([
    'email\nann@example.com\nbob@example.com\n""\n',
    expect.stringContaining(`note: ${none}: --flatten added no columns\n`),
  ]);
});

test("when people are filtered and counted, then it is done here", async () => {
  expect([
    await count(),
    await count("--name", "ANN"),
    await count("--domain", "example.com"),
    await count("--not-surveyed-since", "2026-02-01"),
    await count("--scheduled-after", "now"),
    await count("--unanswered"),
  ]).toEqual(["3\n", "1\n", "2\n", "3\n", "1\n", "0\n"]);
});

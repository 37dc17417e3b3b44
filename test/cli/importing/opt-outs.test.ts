import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { runInProcess } from "../../helpers/in-process.ts";
import { outcomesIn, serveTests } from "../../helpers/imported.ts";

const { service, fileOf } = serveTests();

test.each([
  ["unsubscribed_at", "2026-11-01T10:00:00Z"],
  ["bounced_at", "1790848800"],
  ["Opt-Out Date", "yes"],
  ["Unsubscribed On", "1 Nov"],
])("a row with a value in %s is not surveyed", async (header, value) => {
  const base = header.replace(" ", "");
  const file = await fileOf(`${base}.csv`, `email,${header}\n${base}1@example.com,${value}\n${base}2@example.com,\n`);
  for (const command of ["people", "autopilot"]) {
    const ended = await service.run([command, "import", file, "--send"]);
    expect([ended.status, ended.stderr]).toEqual([
      0,
      expect.stringContaining(
        "note: 1 row of people who opted out or bounced will be skipped; --include-suppressed sends them\n",
      ),
    ]);
    expect(await outcomesIn(`${file}.${command}-import.results.csv`)).toEqual([
      `2 skipped suppressed: ${header} has a value`,
      "3 scheduled",
    ]);
  }
  expect((await service.run(["people", "get", `${base}1@example.com`])).status).toBe(5);
  const dry = await service.run(["people", "import", file, "--send", "--dry-run"]);
  expect(dry.stderr).toContain("1 skipped; ");
  const all = ["--include-suppressed", "--results", `${file}.all.csv`];
  expect((await service.run(["people", "import", file, "--send", ...all])).status).toBe(0);
  expect(await outcomesIn(`${file}.all.csv`)).toEqual(["2 scheduled", expect.stringMatching(/^3 throttled/)]);
});

test.each(["", "0", "no", "NULL", "n/a"])("%j is not an opt-out", async (value) => {
  const file = await fileOf("not.csv", `email,unsubscribed_at\nnot@example.com,${value}\n`);
  expect((await service.run(["people", "import", file, "--send", "--dry-run"])).stderr).toContain("1 email, ");
});

test("opt-outs are counted by the rows that they keep from being surveyed", async () => {
  const rows = [
    "rows1@example.com,yes,1",
    "rows1@example.com,yes,1",
    "rows2@example.com,no,1",
    "rows3@example.com,yes,",
  ];
  const file = await fileOf("rows.csv", `email,send,bounced_at\n${rows.join("\n")}\n`);
  const { stderr } = await service.run(["people", "import", file, "--send", "--dry-run"]);
  expect(stderr).toContain("note: 1 row of people who opted out or bounced will be skipped;");
  expect(stderr).toContain("note: 4 rows: 1 email, 0 text messages, 1 with no survey, 2 skipped;");
});

test("an opt-out on another row of the same person counts", async () => {
  const rows = "two@example.com,,\n,+14155550311,\n,+14155550311,2026-11-01\nTWO@example.com,,2026-11-02\n";
  const file = await fileOf("two.csv", `email,phone,unsubscribed_at\n${rows}`);
  expect((await service.run(["people", "import", file, "--send"])).status).toBe(0);
  expect(await outcomesIn(`${file}.people-import.results.csv`)).toEqual([
    "2 skipped suppressed: unsubscribed_at has a value",
    "3 skipped suppressed: unsubscribed_at has a value",
    "4 skipped duplicate of line 3",
    "5 skipped duplicate of line 2",
  ]);
});

test("people who opted out are saved without a survey, and removed from Autopilot", async () => {
  const text = "person_id,email,name,unsubscribed_at\n12,left@example.com,L,2026-11-01T10:00:00Z\n";
  const file = await fileOf("unsubscribes.csv", text);
  expect((await service.run(["people", "import", file, "--no-send"])).stderr).toContain("1 saved in ");
  const mixed = await fileOf("mixed.csv", "email,send,unsubscribed_at\nquiet@example.com,no,2026-11-01\n");
  expect((await service.run(["people", "import", mixed])).stderr).toContain("1 saved in ");
  const person = await service.run(["people", "get", "left@example.com", "--json"]);
  expect(JSON.parse(person.stdout)).toMatchObject({ properties: { person_id: "12" } });
  expect(person.stdout).not.toContain("unsubscribed_at");
  await service.run(["autopilot", "add", "--email", "left@example.com"]);
  const removed = await service.run(["autopilot", "remove", "--from", file, "--yes"]);
  expect(removed.stderr).toContain("1 removed in ");
});

test("a header that looks like an opt-out is named, and keeps nobody from being surveyed", async () => {
  const file = await fileOf("crm.csv", "Email,Opted Out,Do Not Email\nno@example.com,TRUE,1\n");
  const named = ["Opted Out", "Do Not Email"].map(
    (header) => `column "${header}" looks like an opt-out, but has no effect`,
  );
  const warnings = named.map((text) => `warning: ${text}\n`).join("");
  const args = ["people", "import", file];
  const env = { ...service.env, HOME: service.folder };
  const { stderr } = await runInProcess({ args, env, stdin: "n\n", columns: 100 });
  expect(stripVTControlCharacters(stderr)).toContain(
    named.map((text) => `Warning         ${text}\n`).join("") + "Send 1 email?",
  );
  expect((await service.run([...args, "--send", "--dry-run"])).stderr).toContain(warnings);
  const ended = await service.run([...args, "--send"]);
  expect([ended.status, ended.stderr.split("1 scheduled")[0]]).toEqual([0, warnings]);
  expect((await service.run([...args, "--no-send", "--dry-run"])).stderr).not.toContain("opt-out");
});

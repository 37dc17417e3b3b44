import { readFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { outcomesIn, receivers, serveTests } from "../../helpers/imported.ts";

const { service, fileOf } = serveTests((served) =>
  served.run(["service", "throttle", "off", "--data", served.dataFile]),
);

test("a number alone is the person who has it on another line", async () => {
  const file = await fileOf("twice.csv", "email,phone\nann@example.com,+14155550301\n,+14155550301\n");
  expect(await service.run(["people", "import", file, "--send", "--on-duplicate", "error"])).toMatchObject({
    status: 2,
    stderr:
      "twice.csv:3: duplicate of line 2 (+14155550301)\n" +
      "error: twice.csv: 1 of 2 rows is invalid; nothing was sent\nhint: fix them, or pass --skip-invalid to skip them\n",
  });
  const ended = await service.run(["people", "import", file, "--send"]);
  expect([ended.status, ended.stderr.split("\n")[0]]).toEqual([
    0,
    "warning: 1 duplicate row (same person); the first occurrence is kept",
  ]);
  expect(await outcomesIn(`${file}.people-import.results.csv`)).toEqual([
    "2 scheduled",
    "3 skipped duplicate of line 2",
  ]);
  expect(await receivers(service, 1)).toEqual(["ann@example.com"]);
});

test.each([
  [[], ["2 saved", "3 skipped duplicate of line 2", "4 skipped duplicate of line 2"]],
  [
    ["--on-duplicate", "last"],
    ["2 skipped duplicate of line 4", "3 skipped duplicate of line 4", "4 saved"],
  ],
  [
    ["--on-duplicate", "error", "--skip-invalid"],
    ["2 saved", "3 skipped duplicate of line 2", "4 skipped duplicate of line 2"],
  ],
])("a row with address and number joins the rows that have one of them: %j", async (flags, expected) => {
  const file = await fileOf("joined.csv", "email,phone\nbo@example.com,\n,+14155550302\nbo@example.com,+14155550302\n");
  const results = path.join(service.folder, `joined${flags.length}.csv`);
  const ended = await service.run(["people", "import", file, "--no-send", "--results", results, ...flags]);
  expect([ended.status, await outcomesIn(results)]).toEqual([0, expected]);
});

test.each([
  ["people import", ["--send"]],
  ["responses import", ["--yes"]],
  ["autopilot import", ["--send"]],
])("%s refuses two addresses with one number, and says where", async (command, flags) => {
  const file = await fileOf(
    "two.csv",
    "email,phone,score\nc@example.com,,9\nc@example.com,+14155550303,8\nd@example.com,+14155550303,7\n",
  );
  const ended = await service.run([...command.split(" "), file, ...flags]);
  expect([ended.status, ended.stderr.split("\n").slice(0, 2)]).toEqual([
    2,
    [
      "two.csv:4: phone_number: +14155550303 has another e-mail address on line 3",
      "error: two.csv: 1 of 3 rows is invalid; nothing was sent",
    ],
  ]);
  expect((await service.run(["people", "get", "c@example.com"])).status).toBe(5);
});

test("with --skip-invalid the second of two addresses with one number is written out to be corrected", async () => {
  const text = "email,phone\ne@example.com,+14155550304\nf@example.com,+14155550304\n";
  const [file, failed] = [await fileOf("shared.csv", text), path.join(service.folder, "failed.csv")];
  const args = ["people", "import", file, "--no-send", "--skip-invalid", "--failed-to", failed];
  expect((await service.run(args)).status).toBe(0);
  expect(await readFile(failed, "utf8")).toBe("email,phone\nf@example.com,+14155550304\n");
});

test("a removal sends every address, whatever numbers stand next to them", async () => {
  const file = await fileOf("leave.csv", "email,phone\nc@example.com,+14155550305\nd@example.com,+14155550305\n");
  const members = await fileOf("members.csv", "email\nc@example.com\nd@example.com\n");
  expect((await service.run(["autopilot", "import", members, "--send"])).status).toBe(0);
  const ended = await service.run(["autopilot", "remove", "--from", file, "--yes"]);
  expect([ended.status, ended.stderr.split(" in ")[0]]).toEqual([0, "2 removed"]);
});

test.each([
  [[], ["2 saved", "3 skipped duplicate of line 2", "4 saved"]],
  [
    ["--on-duplicate", "last"],
    ["2 skipped duplicate of line 3", "3 saved", "4 saved"],
  ],
  [
    ["--on-duplicate", "error", "--skip-invalid"],
    ["2 saved", "3 skipped duplicate of line 2", "4 saved"],
  ],
])("identical answers count once: %j", async (flags, expected) => {
  const row = `g${flags.join("")}@example.com,1,slow,2026-10-09`;
  const file = await fileOf("same.csv", `email,score,comment,created_at\n${row}\n${row}\n${row.replace("1,", "2,")}\n`);
  const results = path.join(service.folder, `same${flags.length}${flags[1] ?? ""}.csv`);
  const ended = await service.run(["responses", "import", file, "--yes", "--results", results, ...flags]);
  expect([ended.status, await outcomesIn(results)]).toEqual([0, expected]);
});

test("identical answers are refused with --on-duplicate error", async () => {
  const file = await fileOf("equal.csv", "email,score\nh@example.com,1\nh@example.com,1\n");
  expect(await service.run(["responses", "import", file, "--yes", "--on-duplicate", "error"])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("equal.csv:3: duplicate of line 2 (h@example.com)\n") as string,
  });
});

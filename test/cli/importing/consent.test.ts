import { readFile, writeFile } from "node:fs/promises";
import { expect, test } from "vitest";
import { runInProcess } from "../../helpers/in-process.ts";
import { receivers, serveTests } from "../../helpers/imported.ts";
import { startServe } from "../../helpers/serve.ts";

const { service, fileOf } = serveTests();

async function outcomes(results: string): Promise<string[]> {
  const [, ...rows] = (await readFile(results, "utf8")).trim().split("\n");
  return rows.map((row) => row.split(",").slice(1, 3).join(" "));
}

const VETO = "email,send\na@example.com,yes\nb@example.com,no\nc@example.com,\nd@example.com,TRUE\n";

test("when --no-send is given, then no row is mailed in spite of its send column, and a note reports that", async () => {
  const file = await fileOf("veto.csv", VETO);
  const ended = await service.run(["people", "import", file, "--no-send"]);
  expect([ended.status, ended.stderr.split("\n")[0]]).toEqual([0, "note: --no-send overrides send=yes in 2 rows"]);
  expect(await outcomes(`${file}.people-import.results.csv`)).toEqual([
    "a@example.com saved",
    "b@example.com saved",
    "c@example.com saved",
    "d@example.com saved",
  ]);
  expect(await receivers(service, 0)).toEqual([]);
});

test("when --no-send is given, then the requests of a dry run all say send=false", async () => {
  const file = await fileOf("veto-dry.csv", VETO);
  const { stdout, stderr } = await service.run(["people", "import", file, "--no-send", "--dry-run"]);
  expect(stdout.match(/"send":false/g)).toHaveLength(3);
  expect(stderr.split("\n").slice(0, 2)).toEqual([
    "note: --no-send overrides send=yes in 2 rows",
    "note: 4 rows: 0 emails, 0 text messages, 4 with no survey, 0 skipped; 3 requests shown, nothing was sent",
  ]);
});

test("when --send is given, then rows that say send=no are not mailed", async () => {
  const file = await fileOf("some.csv", "email,send\nmail1@example.com,\nquiet1@example.com,no\n");
  expect((await service.run(["people", "import", file, "--send"])).status).toBe(0);
  expect(await outcomes(`${file}.people-import.results.csv`)).toEqual([
    "mail1@example.com scheduled",
    "quiet1@example.com saved",
  ]);
});

test.each([
  ["--send", "--no-send"],
  ["--no-send", "--send"],
])("when %s and %s are given, then it is refused", async (...flags) => {
  const file = await fileOf("both.csv", "email\nboth@example.com\n");
  expect(await service.run(["people", "import", file, ...flags])).toEqual({
    status: 2,
    signal: null,
    stdout: "",
    stderr: "error: --send and --no-send cannot be used together\n",
  });
});

test.each([
  ["people import", "--no-send"],
  ["responses import", "--yes"],
  ["autopilot import", "--send"],
  ["autopilot remove --from", "--yes"],
])("a file with a header and no rows ends %s with a note and 0", async (command, flag) => {
  const file = await fileOf("header.csv", "email,score\n");
  const args = [...command.split(" "), file, flag];
  const note = "note: header.csv has no rows below the header; nothing was sent\n";
  for (const more of [[], ["--resume"], ["--skip-invalid", "--allow-empty"]])
    expect(await service.run([...args, ...more])).toMatchObject({ status: 0, stdout: "", stderr: note });
  expect(JSON.parse((await service.run([...args, "--json"])).stdout)).toMatchObject({ saved: 0, results: null });
  expect((await service.run([...args, "--dry-run"])).stderr).toMatch(/^note: 0 rows: /);
});

test.each([
  ["people import", "--no-send"],
  ["autopilot remove --from", "--yes"],
  ["people delete --from", "--yes"],
])("an empty list in JSON ends %s with a note and 0", async (command, flag) => {
  const file = await fileOf("list.json", "[]\n");
  for (const more of [[], ["--dry-run"]]) {
    const ended = await service.run([...command.split(" "), file, flag, ...more]);
    expect([ended.status, ended.stdout, ended.stderr]).toEqual([
      0,
      "",
      expect.stringMatching(/^note: .* no (?:rows|people); no/),
    ]);
  }
});

test("an empty night leaves the record of the night before", async () => {
  const file = await fileOf("nights.csv", "email\nnights@example.com\n");
  const args = ["people", "import", file, "--send"];
  expect((await service.run(args)).status).toBe(0);
  const record = await outcomes(`${file}.people-import.results.csv`);
  await writeFile(file, "email\n");
  expect((await service.run(args)).status).toBe(0);
  expect(await outcomes(`${file}.people-import.results.csv`)).toEqual(record);
});

test("a file without a header is an error", async () => {
  const ended = await service.run(["people", "import", await fileOf("nothing.csv", ""), "--no-send"]);
  expect([ended.status, ended.stderr]).toEqual([
    2,
    "error: nothing.csv is empty; the first line must name the columns\n",
  ]);
});

test.each([[[]], [["--dry-run"]]])("when every row is invalid, --skip-invalid is an error: %j", async (flags) => {
  const file = await fileOf("invalid.csv", "email\nbad\nworse\n");
  const ended = await service.run(["people", "import", file, "--no-send", "--skip-invalid", ...flags]);
  expect([ended.status, ended.stderr.split("\n").slice(-3)]).toEqual([
    2,
    ["error: invalid.csv: 2 of 2 rows are invalid; nothing was sent", "hint: fix them", ""],
  ]);
});

test("when another command or service imports the same file, then it does not count as imported already", async () => {
  const file = await fileOf("shared.csv", "email,score\nshared@example.com,9\n");
  expect((await service.run(["people", "import", file, "--send"])).status).toBe(0);
  expect((await service.run(["responses", "import", file, "--yes"])).status).toBe(0);
  expect((await service.run(["autopilot", "import", file, "--send"])).status).toBe(0);
  const other = await startServe();
  try {
    const env = { ...other.env, HOME: other.folder };
    expect((await runInProcess({ args: ["people", "import", file, "--send"], env })).status).toBe(0);
  } finally {
    await other.stop();
  }
});

test("when a copy of an imported file is imported, then it is refused, and named where it was", async () => {
  const text = "email\noriginal1@example.com\noriginal2@example.com\n";
  const [file, copy] = [await fileOf("original.csv", text), await fileOf("copy.csv", text)];
  expect((await service.run(["people", "import", file, "--send"])).status).toBe(0);
  const ended = await service.run(["people", "import", copy, "--send"]);
  expect([ended.status, ended.stderr]).toEqual([
    2,
    `error: this file has already been imported (results: ${file}.people-import.results.csv)\n` +
      "hint: to import it again: --results other.csv\n",
  ]);
  expect((await service.run(["people", "import", copy, "--send", "--results", `${copy}.again.csv`])).status).toBe(0);
});

test.each([
  ["people", "email\nmoved1@example.com\n", "email\nmoved2@example.com\n", "--send"],
  ["responses", "email,score\nmoved3@example.com,9\n", "email,score\nmoved4@example.com,9\n", "--yes"],
])("when %s of another name were imported, then a finished import of this name hides no copy", async (...one) => {
  const [noun, text, other, flag] = one;
  const [file, copy] = [await fileOf(`${noun}-first.csv`, text), await fileOf(`${noun}-copy.csv`, other)];
  for (const each of [file, copy]) expect((await service.run([noun, "import", each, flag])).status).toBe(0);
  await writeFile(copy, text);
  const ended = await service.run([noun, "import", copy, flag]);
  expect([ended.status, ended.stderr]).toEqual([
    2,
    `error: this file has already been imported (results: ${file}.${noun}-import.results.csv)\n` +
      "hint: to import it again: --results other.csv\n",
  ]);
});

test("when a file was sent, then --no-send does not write over the record of that", async () => {
  const file = await fileOf("sent.csv", "email\nsent1@example.com\n");
  expect((await service.run(["people", "import", file, "--send"])).status).toBe(0);
  const results = `${file}.people-import.results.csv`;
  const record = await readFile(results, "utf8");
  const ended = await service.run(["people", "import", file, "--no-send"]);
  expect([ended.status, ended.stderr]).toEqual([
    2,
    `error: this file has already been imported (results: ${results})\n` +
      "hint: to import it again: --results other.csv\n",
  ]);
  expect(await readFile(results, "utf8")).toBe(record);
});

test("a file that was saved without surveys is saved again under other results", async () => {
  const file = await fileOf("saved.csv", "email\nsaved1@example.com\n");
  for (const results of [`${file}.1.csv`, `${file}.2.csv`]) {
    const ended = await service.run(["people", "import", file, "--no-send", "--results", results]);
    expect([ended.status, ended.stderr.split(" in ")[0]]).toEqual([0, "1 saved"]);
  }
});

test.each([
  [["--skip-suppressed"], "--skip-suppressed"],
  [["--skip-invalid"], "--skip-invalid"],
  [["--tz", "Asia/Tokyo"], "--tz"],
  [["--property", "plan=pro"], "--property"],
])("when a run is resumed with %j added, then it is refused", async (flags, named) => {
  const file = await fileOf(`head${named}.csv`, `email\nhead${named}@example.com\n`);
  const args = ["people", "import", file, "--no-send"];
  expect((await service.run(args)).status).toBe(0);
  const ended = await service.run([...args, "--resume", ...flags]);
  expect([ended.status, ended.stderr.split(";")[0]]).toEqual([
    2,
    `error: --resume: the previous run differed in ${named}`,
  ]);
});

test("when a run is resumed under another key, then it is refused", async () => {
  const file = await fileOf("keys.csv", "email\nkeys@example.com\n");
  const args = ["people", "import", file, "--no-send"];
  expect((await service.run(args)).status).toBe(0);
  const added = await service.run(["service", "key", "add", "--data", service.dataFile, "--json"]);
  const { key } = JSON.parse(added.stdout) as { key: string };
  const ended = await service.run([...args, "--resume"], { env: { SURVEYCTL_API_KEY: key } });
  expect([ended.status, ended.stderr.split(";")[0]]).toEqual([
    2,
    "error: --resume: the previous run used another API key",
  ]);
});

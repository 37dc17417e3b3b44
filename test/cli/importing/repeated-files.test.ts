import { appendFile, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { expect, test } from "vitest";
import { serveTests, withoutUndo } from "../../helpers/imported.ts";

const { service, fileOf } = serveTests();

async function run(...args: string[]): Promise<readonly [number | null, string]> {
  const { status, stderr } = await service.run(args);
  return [status, stderr.replaceAll(`${service.folder}/`, "").replaceAll(/ in \d.*\n/g, "\n")];
}

async function outcomes(results: string): Promise<string[]> {
  const [, ...rows] = (await readFile(results, "utf8")).trim().split("\n");
  return rows.map((row) =>
    withoutUndo(row)
      .replace(/^(\d+),([^,]*),(\w+),[^,]*,[^,]*,/, "$1 $2 $3 ")
      .trim(),
  );
}

async function lastEmails(...list: string[]): Promise<string[]> {
  const { stdout } = await service.run([...list, "--all", "-o", "tsv"]);
  return stdout.trim().split("\n").toSorted();
}

test.each([
  ["people import", "email\nnight1@example.com\n", "--send"],
  ["people import", "email\nnight2@example.com\n", "--no-send"],
  ["responses import", "email,score\nnight3@example.com,9\n", "--yes"],
  ["autopilot import", "email\nnight4@example.com\n", "--send"],
])("%s of an unchanged file ends with one note and 0: %j", async (command, text, flag) => {
  const name = `${command.replace(" ", "-")}${flag}.csv`;
  const args = [...command.split(" "), await fileOf(name, text), flag];
  expect((await run(...args))[0]).toBe(0);
  const results = `${name}.${command.replace(" ", "-")}.results.csv`;
  const record = await outcomes(path.join(service.folder, results));
  const note = `${path.join(service.folder, name)} is as it was imported, nothing was sent (results: ${results})`;
  expect(await run(...args)).toEqual([0, `note: ${note.replace(`${service.folder}/`, "")}\n`]);
  const json = await service.run([...args, "--json"]);
  expect([json.status, JSON.parse(json.stdout)]).toMatchObject([
    0,
    { remaining: 0, results: path.join(service.folder, results) },
  ]);
  expect(await outcomes(path.join(service.folder, results))).toEqual(record);
  await writeFile(path.join(service.folder, name), text.replaceAll("\n", "\r\n"));
  expect((await run(...args))[1]).toMatch(/^note: .* is as it was imported, nothing was sent/);
});

test("an unchanged Autopilot file doesn't bring back a member who was removed", async () => {
  const file = await fileOf("members.csv", "email\nstays@example.com\ngoes@example.com\n");
  expect((await run("autopilot", "import", file, "--send"))[0]).toBe(0);
  await run("autopilot", "remove", "--email", "goes@example.com", "--yes");
  expect((await run("autopilot", "import", file, "--send"))[0]).toBe(0);
  const members = await lastEmails("autopilot", "list", "--columns", "person_email");
  expect(members).not.toContain("goes@example.com");
  await appendFile(file, "comes@example.com\n");
  expect((await run("autopilot", "import", file, "--send", "--resume"))[0]).toBe(0);
  const grown = await lastEmails("autopilot", "list", "--columns", "person_email");
  expect([grown.includes("goes@example.com"), grown.includes("comes@example.com")]).toEqual([false, true]);
});

test("a removal is repeated: who joined again meanwhile has to go", async () => {
  const file = await fileOf("leave.csv", "email\nleave@example.com\n");
  const remove = ["autopilot", "remove", "--from", file, "--yes"];
  for (const expected of ["1 removed", "1 removed"]) {
    await run("autopilot", "add", "--email", "leave@example.com");
    expect((await run(...remove))[1].split("\n")[0]).toBe(expected);
  }
});

test("an unchanged file says that rows failed", async () => {
  const file = await fileOf("failing.csv", "person_id,score\n999999,3\n");
  expect((await run("responses", "import", file, "--yes"))[0]).toBe(3);
  const [status, note] = await run("responses", "import", file, "--yes");
  expect([status, note]).toEqual([0, expect.stringContaining("; 1 row failed or unknown: --resume tries again\n")]);
});

test("another key or other flags are another import", async () => {
  const file = await fileOf("other.csv", "email\nother@example.com\n");
  expect((await run("people", "import", file, "--send"))[0]).toBe(0);
  expect(await run("people", "import", file, "--send", "--delay", "1h")).toEqual([
    2,
    "error: this file has already been imported (results: other.csv.people-import.results.csv)\n" +
      "hint: to import it again: --results other.csv\n",
  ]);
  const { key } = JSON.parse(
    (await service.run(["service", "key", "add", "--data", service.dataFile, "--json"])).stdout,
  ) as {
    key: string;
  };
  const ended = await service.run(["people", "import", file, "--send"], { env: { SURVEYCTL_API_KEY: key } });
  expect([ended.status, ended.stderr]).toEqual([2, expect.stringContaining("has already been imported")]);
});

test("--resume starts an import that has nothing to resume", async () => {
  const file = await fileOf("first.csv", "email\nfirst@example.com\n");
  expect((await run("people", "import", file, "--send", "--resume"))[0]).toBe(0);
  expect(await outcomes(`${file}.people-import.results.csv`)).toEqual(["2 first@example.com scheduled"]);
});

test.each([
  ["under a mistyped name", ["--results", "typo.csv"], ["--results", "right.csv"]],
  ["grown, under a mistyped name", ["--results", "typo.csv"], ["--results", "right.csv"]],
  ["under its own name", [], ["--results", "right.csv"]],
  ["under a mistyped name of another folder", ["--results", "/tmp/surveyctl-typo.csv"], []],
])("--resume doesn't start an import that was recorded elsewhere: %s", async (title, again, before) => {
  const base = title.replaceAll(/\W+/g, "-");
  const inFolder = (flags: readonly string[]): string[] =>
    flags.map((flag) =>
      flag.endsWith(".csv") && !flag.startsWith("/") ? path.join(service.folder, base + flag) : flag,
    );
  const file = await fileOf(`${base}.csv`, `email\n${base}@example.com\n`);
  expect((await run("people", "import", file, "--send", ...inFolder(before)))[0]).toBe(0);
  if (title.startsWith("grown")) await appendFile(file, "grown@example.com\n");
  const [status, stderr] = await run("people", "import", file, "--send", "--resume", ...inFolder(again));
  const results = before.length === 0 ? `${base}.csv.people-import.results.csv` : `${base}right.csv`;
  expect([status, stderr]).toEqual([
    2,
    expect.stringMatching(/^error: nothing to resume: \S+\.journal not found, but this file was imported \(results: /),
  ]);
  expect(stderr).toContain(`(results: ${results})\nhint: to resume that run: --results ${results}; `);
  const resumed = await run("people", "import", file, "--send", "--resume", ...inFolder(before));
  expect(resumed[0]).toBe(0);
});

test.each([
  ["people import", "--send", "scheduled"],
  ["people import", "--no-send", "saved"],
  ["autopilot import", "--send", "scheduled"],
])("--resume of a file that has grown sends its new rows only: %s %s", async (command, flag, outcome) => {
  const base = `grow${command.replace(" ", "")}${flag}`;
  const file = await fileOf(`${base}.csv`, `email,name\n${base}1@example.com,Ann\n${base}2@example.com,Bob`);
  const args = [...command.split(" "), file, flag];
  expect((await run(...args))[0]).toBe(0);
  await writeFile(
    file,
    `"email","name"\r\n"${base}0@example.com","New"\r\n"${base}1@example.com","Ann"\r\n` +
      `"${base}2@example.com","Bob"\r\n"${base}3@example.com","Cy"\r\n`,
  );
  const [status, stderr] = await run(...args, "--resume");
  expect([status, stderr.split("\n").filter((line) => line.includes("now"))]).toEqual([
    0,
    [`2 ${outcome} now, 2 earlier`],
  ]);
  expect(await outcomes(`${file}.${command.replace(" ", "-")}.results.csv`)).toEqual(
    [0, 1, 2, 3].map((number) => `${number + 2} ${base}${number}@example.com ${outcome}`),
  );
  expect((await run(...args, "--resume"))[1]).toContain(`0 ${outcome} now, 4 earlier\n`);
});

test("a run that was killed goes on in a file that has grown", async () => {
  const file = await fileOf("killed.csv", "email\nk1@example.com\nk2@example.com\n");
  const args = ["people", "import", file, "--send"];
  expect((await run(...args))[0]).toBe(0);
  const journal = `${file}.people-import.results.csv.journal`;
  const lines = (await readFile(journal, "utf8")).split("\n").filter((line) => /^\{"(?:head|intent)"/.test(line));
  await writeFile(journal, lines.map((line) => `${line}\n`).join(""));
  await fileOf("killed.csv", "email\nk0@example.com\nk1@example.com\nk2@example.com\n");
  expect((await run(...args))[0]).toBe(2);
  expect((await run(...args, "--resume"))[0]).toBe(0);
  expect(await outcomes(`${file}.people-import.results.csv`)).toEqual([
    "2 k0@example.com scheduled",
    "3 k1@example.com scheduled",
    "4 k2@example.com scheduled",
  ]);
});

test.each([
  ["changed", "email,name\nchanged@example.com,Anna\nc2@example.com,\n"],
  ["gone", "email,name\nc2@example.com,\n"],
])("--resume refuses a file in which an imported row is %s", async (title, text) => {
  const file = await fileOf(`${title}.csv`, `email,name\n${title}@example.com,Ann\n`);
  expect((await run("people", "import", file, "--send"))[0]).toBe(0);
  await writeFile(file, text);
  expect(await run("people", "import", file, "--send", "--resume")).toEqual([
    2,
    `error: --resume: the input file has changed; its journal is ${title}.csv.people-import.results.csv.journal\n` +
      "hint: import the corrected rows as a new file, without --resume\n",
  ]);
});

test("--resume of a JSON file sends only its new rows, whose first line is a row too", async () => {
  const file = await fileOf("grown.ndjson", '{"email":"json1@example.com"}\n');
  expect((await run("people", "import", file, "--send"))[0]).toBe(0);
  await appendFile(file, '{"email":"json2@example.com"}\n');
  expect((await run("people", "import", file, "--send", "--resume"))[0]).toBe(0);
  expect(await outcomes(`${file}.people-import.results.csv`)).toEqual([
    "1 json1@example.com scheduled",
    "2 json2@example.com scheduled",
  ]);
});

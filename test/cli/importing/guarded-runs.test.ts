import { readFile, writeFile } from "node:fs/promises";
import { stripVTControlCharacters } from "node:util";
import { expect, test } from "vitest";
import { runInProcess } from "../../helpers/in-process.ts";
import { readCsv, serveTests } from "../../helpers/imported.ts";

const { service, fileOf } = serveTests();

async function forgetOutcomes(journal: string): Promise<void> {
  const lines = (await readFile(journal, "utf8")).split("\n").filter((line) => /^\{"(?:head|intent)"/.test(line));
  await writeFile(journal, lines.map((line) => `${line}\n`).join(""));
}

test("when --yes is the only flag off a terminal, then there is no consent and nothing is sent", async () => {
  const file = await fileOf("yes.csv", "email\nyes@example.com\n");
  const ended = await service.run(["people", "import", file, "--yes"]);
  expect([ended.status, ended.stderr.split("\n")[0]]).toEqual([
    2,
    "error: people import can email your customers: pass --send or --no-send, or add a send column",
  ]);
  expect((await service.run(["people", "get", "yes@example.com"])).status).toBe(5);
});

test("when results are there without their journal, then they are not written over", async () => {
  const file = await fileOf("lost.csv", "email\nlost@example.com\n");
  const results = await fileOf("lost.csv.people-import.results.csv", "mine\n");
  const ended = await service.run(["people", "import", file, "--send"]);
  expect([ended.status, await readFile(results, "utf8")]).toEqual([2, "mine\n"]);
  expect(ended.stderr).toBe(
    `error: ${results} exists, but its journal ${results}.journal does not: there is no record of what was sent\n` +
      `hint: use other results: --results other.csv, or move ${results} away\n`,
  );
});

test("when a journal has lost its beginning, then no person in it is mailed again", async () => {
  const file = await fileOf("headless.csv", "email\nheadless@example.com\n");
  const journal = await fileOf("headless.csv.people-import.results.csv.journal", 'x\n{"intent":[2],"at":500}\n');
  const ended = await service.run(["people", "import", file, "--send", "--resume"]);
  expect([ended.status, ended.stderr.split("\n")[0]]).toEqual([
    2,
    `error: the journal ${journal} is damaged: its file cannot be identified`,
  ]);
  expect((await service.run(["people", "get", "headless@example.com"])).status).toBe(5);
});

test("when a spread import was killed after its answers, then the next run finds every survey and sends none", async () => {
  const file = await fileOf(
    "spread.csv",
    `email\n${[1, 2, 3, 4].map((number) => `spread${number}@example.com\n`).join("")}`,
  );
  // A survey due right away could be sent a second late and would then show that time.
  const args = ["people", "import", file, "--send", "--delay", "1h", "--spread", "4h"];
  expect((await service.run(args)).status).toBe(0);
  const before = await readCsv(`${file}.people-import.results.csv`);
  await forgetOutcomes(`${file}.people-import.results.csv.journal`);
  const ended = await service.run([...args, "--resume"]);
  // Finding the survey doesn't tell whether the person was created.
  const unsure = before.map((row) => ({ ...row, person: "" }));
  expect([ended.status, await readCsv(`${file}.people-import.results.csv`)]).toEqual([0, unsure]);
});

test("when a removal was killed after its answers, then the next run takes gone members as removed", async () => {
  const file = await fileOf("members.csv", "email\nmember1@example.com\nmember2@example.com\n");
  expect((await service.run(["autopilot", "import", file, "--send"])).status).toBe(0);
  const args = ["autopilot", "remove", "--from", file, "--yes"];
  expect((await service.run(args)).status).toBe(0);
  await forgetOutcomes(`${file}.autopilot-remove.results.csv.journal`);
  const ended = await service.run([...args, "--resume"]);
  const outcomes = (await readFile(`${file}.autopilot-remove.results.csv`, "utf8"))
    .split("\n")
    .map((line) => line.split(",")[2]);
  expect([ended.status, outcomes]).toEqual([0, ["outcome", "saved", "saved", undefined]]);
});

test("when a rename was killed after its answer, then the next run finds it and creates no second person", async () => {
  const people = await fileOf("old.csv", "email\nold@example.com\n");
  expect((await service.run(["people", "import", people, "--no-send"])).status).toBe(0);
  const file = await fileOf("rename.csv", "email,email_update\nold@example.com,new@example.com\n");
  const args = ["people", "import", file, "--no-send"];
  expect((await service.run(args)).status).toBe(0);
  await forgetOutcomes(`${file}.people-import.results.csv.journal`);
  const ended = await service.run([...args, "--resume"]);
  expect([ended.status, (await readFile(`${file}.people-import.results.csv`, "utf8")).split(",")[9]]).toEqual([
    0,
    "saved",
  ]);
  expect((await service.run(["people", "get", "old@example.com"])).status).toBe(5);
});

async function declinedPlan(args: readonly string[]): Promise<unknown[]> {
  const { status, stdout, stderr } = await runInProcess({
    args,
    env: { ...service.env, HOME: service.folder },
    stdin: "n\n",
    columns: 100,
  });
  return [status, stdout, stripVTControlCharacters(stderr.slice(stderr.indexOf("Service "))).replaceAll("\r", "")];
}

test("when an import is planned on a terminal, then every row is counted as what would become of it", async () => {
  await service.run(["people", "add", "--email", "gone@example.com", "--no-send"]);
  await service.run(["api", "POST", "/v1/unsubscribes.json", "-f", "person_email=gone@example.com"]);
  const rows = [
    "p1@example.com,,",
    "p1@example.com,,",
    "gone@example.com,,",
    ",+14155550181,sms",
    ",+14155550182,",
    "bad,,",
  ];
  const file = await fileOf("plan.csv", `email,phone,channel\n${rows.join("\n")}\n`);
  expect(await declinedPlan(["people", "import", file, "--skip-invalid", "--skip-suppressed"])).toEqual([
    2,
    "",
    `Service         ${service.baseUrl}\nRows            6\n` +
      "Emails          1\nText messages   1\nNo survey       1\nSkipped         3\n" +
      "Send 1 email and 1 text message? 1 without an address will be saved without a survey [y/N] n\nCancelled. Nothing was sent.\n",
  ]);
  expect((await service.run(["people", "get", "p1@example.com"])).status).toBe(5);
});

test("the plan counts the people whose stored properties change", async () => {
  for (const [name, plan] of [
    ["one", "pro"],
    ["two", "free"],
  ] as const) {
    const stored = ["--property", `plan=${plan}`, "--property", "region=eu", "--intro-message", "Hello"];
    await service.run(["people", "add", "--email", `${name}@example.com`, "--no-send", ...stored]);
  }
  const header = "email,plan,seats,service_intro_message";
  const rows = ["one@example.com,team,5,Hi", "two@example.com,free,5,Hi", "three@example.com,team,5,Hi"];
  const file = await fileOf("changes.csv", `${[header, ...rows].join("\n")}\n`);
  const planOf = async (...flags: string[]) => (await declinedPlan(["people", "import", file, ...flags]))[2];
  expect(await planOf("--no-send")).toContain(
    "Skipped         0\nProperties      plan changes for 1 person\nSave 3 people without a survey? [y/N]",
  );
  expect(await planOf("--replace-properties")).toContain(
    "Properties      plan changes for 1 person\nProperties      region changes for 2 people\nSend 3 emails? [y/N]",
  );
  const dryRun = await service.run(["people", "import", file, "--no-send", "--dry-run"]);
  expect(dryRun.stderr).toBe(
    "note: 3 rows: 0 emails, 0 text messages, 3 with no survey, 0 skipped; plan changes for 1 person; " +
      "3 requests shown, nothing was sent\n",
  );
  expect((await service.run(["people", "get", "three@example.com"])).status).toBe(5);
});

test("when an import is resumed on a terminal, then its plan shows what is left", async () => {
  const file = await fileOf("rest.csv", "email\nrest1@example.com\nrest2@example.com\n");
  expect((await service.run(["people", "import", file, "--no-send"])).status).toBe(0);
  const journal = `${file}.people-import.results.csv.journal`;
  const lines = (await readFile(journal, "utf8")).split("\n").filter((line) => !/"line":3|"end"/.test(line));
  await writeFile(journal, lines.join("\n"));
  expect(await declinedPlan(["people", "import", file, "--no-send", "--resume"])).toEqual([
    2,
    "",
    `Service         ${service.baseUrl}\nRows            2\n` +
      "Emails          0\nText messages   0\nNo survey       1\nSkipped         0\nAlready done    1\n" +
      "Save 1 person without a survey? [y/N] n\nCancelled. Nothing was sent.\n",
  ]);
});

test("when a run with a delay until a moment is resumed, then the moment is the same and so is the run", async () => {
  const file = await fileOf("moment.csv", "email\nmoment1@example.com\nmoment2@example.com\n");
  const moment = "2038-01-01T00:00:00Z";
  const args = ["people", "import", file, "--send", "--delay", moment];
  expect((await service.run(args)).status).toBe(0);
  await forgetOutcomes(`${file}.people-import.results.csv.journal`);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const resumed = await service.run([...args, "--resume"]);
  expect([resumed.status, resumed.stderr.split("\n")[0]]).toEqual([0, expect.stringContaining("2 scheduled")]);
  const person = JSON.parse((await service.run(["people", "get", "moment1@example.com", "--json"])).stdout) as object;
  expect(Math.abs(Number(Reflect.get(person, "next_survey_scheduled_at")) - Date.parse(moment) / 1000)).toBeLessThan(5);
});

test("when cells hold a delay until a day, then the survey waits for it, and a resumed run means the same moment", async () => {
  const day = new Date(Date.now() + 86_400_000 * 40).toISOString().slice(0, 10);
  const file = await fileOf("cells.csv", `email,delay\nday@example.com,${day}\ntomorrow@example.net,Tomorrow\n`);
  const args = ["people", "import", file, "--send", "--tz", "UTC"];
  expect((await service.run(args)).status).toBe(0);
  await forgetOutcomes(`${file}.people-import.results.csv.journal`);
  const resumed = await service.run([...args, "--resume"]);
  expect([resumed.status, resumed.stderr.split("\n")[0]]).toEqual([0, expect.stringContaining("2 scheduled")]);
  const person = JSON.parse((await service.run(["people", "get", "day@example.com", "--json"])).stdout) as object;
  expect(Math.abs(Number(Reflect.get(person, "next_survey_scheduled_at")) - Date.parse(day) / 1000)).toBeLessThan(5);
});

test("when a cell holds a delay in the past, or a spread is not a duration, then the accepted forms are named", async () => {
  const file = await fileOf("past.csv", "email,delay\npast@example.com,yesterday\n");
  const past = await service.run(["people", "import", file, "--send"]);
  expect([past.status, past.stderr.split("\n")[0]]).toEqual([
    2,
    'past.csv:2: delay: "yesterday" is not a delay; give seconds, 90s, 15m, 2h, 1d, 2w, tomorrow or a later time',
  ]);
  expect(await service.run(["people", "import", file, "--send", "--spread", "tomorrow"])).toMatchObject({
    status: 2,
    stderr: 'error: --spread: "tomorrow" is not a duration such as 90 (seconds), 90s, 15m, 2h, 1d or 2w\n',
  });
});

test.each([
  ["--results", "out.xlsx"],
  ["--failed-to", "OUT.XLS.gz"],
])("when %s names a workbook, then it is refused before anything is sent", async (flag, name) => {
  const file = await fileOf("workbook.csv", "email\nworkbook@example.com\n");
  expect(await service.run(["people", "import", file, "--send", flag, name])).toMatchObject({
    status: 2,
    stdout: "",
    stderr: `error: ${flag} ${name}: Excel workbooks cannot be written\nhint: use a name that ends in .csv: Excel opens that\n`,
  });
  expect((await service.run(["people", "get", "workbook@example.com"])).status).toBe(5);
});

test("when an import is given a delay until tomorrow, then it is taken as everywhere", async () => {
  const file = await fileOf("tomorrow.csv", "email\ntomorrow@example.com\n");
  const args = ["people", "import", file, "--send", "--dry-run", "--delay"];
  expect((await service.run([...args, "tomorrow"])).stdout).toMatch(/"delay":\d+\}/);
  const past = await service.run([...args, "yesterday"]);
  expect([past.status, past.stderr]).toEqual([2, 'error: --delay: "yesterday" is not a time in the future\n']);
});

async function importOnTerminal(name: string, answers: string, ...flags: string[]): Promise<unknown[]> {
  const file = await fileOf(name, `E-Mail Address,Full Name,Email 2\n${name}@example.com,Ann,x\n`);
  const { status, stderr } = await runInProcess({
    args: ["people", "import", file, ...flags],
    env: { ...service.env, HOME: service.folder },
    stdin: answers,
    columns: 100,
  });
  return [status, stripVTControlCharacters(stderr).replaceAll("\r", "").replaceAll(file, name)];
}

const PROPOSAL = (name: string): string =>
  `${name}:1: no email or phone_number column (found: E-Mail Address, Full Name, Email 2)\n` +
  '  "E-Mail Address" -> email\n  "Full Name"      -> name\nImport with this mapping? [y/N] ';

test("when a header has to be mapped on a terminal, then the mapping is asked about once", async () => {
  const [status, screen] = await importOnTerminal("asked.csv", "y\ny\n");
  expect([status, screen]).toEqual([0, expect.stringContaining(`${PROPOSAL("asked.csv")}y\n`)]);
  expect(screen).toContain("Send 1 email? [y/N] \n");
  const person = JSON.parse((await service.run(["people", "get", "asked.csv@example.com", "--json"])).stdout) as object;
  expect(person).toMatchObject({ name: "Ann" });
});

test("when the proposed mapping is declined, then nothing is sent", async () => {
  expect(await importOnTerminal("declined.csv", "n\n")).toEqual([
    2,
    `${PROPOSAL("declined.csv")}n\nCancelled. Nothing was sent.\n`,
  ]);
});

test("when --yes is given on a terminal, then the header is refused with the mapping to type", async () => {
  expect(await importOnTerminal("sure.csv", "", "--yes", "--send")).toEqual([
    2,
    "error: sure.csv:1: no email or phone_number column (found: E-Mail Address, Full Name, Email 2)\n" +
      'hint: map the columns: --map "E-Mail Address=email" --map "Full Name=name"\n',
  ]);
});

test("when rows of a mapped run were refused, then the reason is told, and no retry that would change nothing", async () => {
  const file = await fileOf("long.csv", "E-Mail,thank_you_link_url\nlong@example.com,example.com\n");
  const { status, stderr } = await runInProcess({
    args: ["people", "import", file, "--no-send"],
    env: { ...service.env, HOME: service.folder },
    stdin: "y\ny\n",
    columns: 100,
  });
  const [counts = "", ...lines] = stripVTControlCharacters(stderr.slice(stderr.indexOf("1 failed"))).split(/\r?\n/);
  expect([status, counts.split(" in ")[0], ...lines]).toEqual([
    3,
    "1 failed",
    '1 row: the service answered 422 "thank_you_link_url must be a URL with a scheme, such as https://example.com"',
    `results: ${file}.people-import.results.csv`,
    "Refused rows would be refused again: correct them and import them as a new file (--failed-to FILE writes them)",
    "",
  ]);
});

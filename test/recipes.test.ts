/** The README's recipes, typed as they stand there, one after the other, by somebody with a small customer list. */
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { isInstalled } from "./helpers/installed.ts";
import { isLong } from "./helpers/long.ts";
import { openResident, runShell, type Resident } from "./helpers/resident.ts";
import { bareEnvironment, shellProgram, type Ended } from "./helpers/run-cli.ts";
import { startServe, type Served } from "./helpers/serve.ts";

const KEY = "the-old-key";
const CUSTOMERS = "E-Mail Address,name,plan\nann@example.com,Ann,pro\nbob@example.com,Bob,free\n";
const HISTORY = "person_email,score,comment,plan\nann@example.com,10,,pro\nbob@example.com,3,Too slow,free\n";

let recipes: ReadonlyMap<string, readonly string[]>;
let service: Served;
let work: string;
let resident: Resident | null = null;

beforeAll(async () => {
  recipes = await readRecipes();
  service = await startServe({ apiKey: KEY });
  work = path.join(service.folder, "work");
  for (const name of ["bin", "work", "home"]) await mkdir(path.join(service.folder, name));
  if (isLong) await script("surveyctl", `exec ${shellProgram()} "$@"`);
  else resident = await openResident(path.join(service.folder, "bin"), work);
  await script("mail", `{ echo "$@"; cat; } > mail.txt`);
  await writeFile(path.join(work, "customers.csv"), CUSTOMERS);
  await writeFile(path.join(work, "history.csv"), HISTORY);
});
afterAll(async () => {
  await resident?.close();
  await service.stop();
});

/** Each recipe's command lines, by the bold words that it begins with. */
async function readRecipes(): Promise<Map<string, string[]>> {
  const readme = await readFile(path.join(import.meta.dirname, "../README.md"), "utf8");
  const chapter = /^## Recipes\n(.*?)^## /ms.exec(readme)?.[1] ?? "";
  const entries = chapter.split(/^\*\*/m).slice(1);
  return new Map(entries.map((entry) => [/^[^*]*?(?=[.:]?\*\*)/.exec(entry)?.[0] ?? "", commandsOf(entry)]));
}

function commandsOf(entry: string): string[] {
  return [...entry.matchAll(/^```sh\n(.*?)^```/gms)].flatMap(([, block = ""]) => block.trimEnd().split("\n"));
}

async function script(name: string, body: string): Promise<void> {
  await writeFile(path.join(service.folder, "bin", name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

/** What somebody's shell makes of a line; the addresses that the README makes up are those of the test. */
async function type(line: string, more: Readonly<Record<string, string>> = service.env): Promise<Ended> {
  const command = line.replace("http://127.0.0.1:8080", service.baseUrl).replace("/var/exports", work);
  const env = bareEnvironment(path.join(service.folder, "home"), {
    ...more,
    PATH: `${path.join(service.folder, "bin")}:${process.env.PATH ?? ""}`,
  });
  return runShell(command, { folder: service.folder, cwd: work, env, stdin: "" });
}

function recipe(title: string): readonly string[] {
  const lines = recipes.get(title);
  if (lines === undefined) throw new Error(`no recipe "${title}"; there are ${[...recipes.keys()].join(", ")}`);
  return lines;
}

/** The README's data file is the test's. */
function onService(line: string): Promise<Ended> {
  return type(line.replace("survey.db", service.dataFile));
}

/** The command of a crontab's line. */
function withoutTimes(line: string): string {
  return line.replace(/^(?:\S+ ){5} */, "");
}

function file(name: string): Promise<string> {
  return readFile(path.join(work, name), "utf8");
}

/** The columns named, of each row. */
async function rows(name: string, ...columns: number[]): Promise<string[][]> {
  const [, ...lines] = (await file(name)).trimEnd().split("\n");
  return lines.map((line) => columns.map((column) => line.split(",")[column] ?? ""));
}

test("when there is a recipe, then it is one of these", () => {
  expect([...recipes.keys()]).toEqual([
    "Import a list from a spreadsheet",
    "A nightly export from cron",
    "An alert when the score falls",
    "A report, and a weekly message",
    "With jq",
    "Ask again who did not answer",
    "Move people from one Autopilot platform to the other",
    "Move a script from a hosted service that closed",
    "Ask everybody again and again",
    "Settings under version control",
    "A call that no command makes",
  ]);
});

describe("recipes", () => {
  it("when a list from a spreadsheet is checked, then nothing is sent, and then everybody is surveyed", async () => {
    const [check = "", send = "", ...others] = recipe("Import a list from a spreadsheet");
    const checked = await type(check);
    expect([
      checked.status,
      checked.stdout.match(/"email":"[^"]*"/g),
      (await type("surveyctl people list")).stdout,
    ]).toEqual([0, ['"email":"ann@example.com"', '"email":"bob@example.com"'], ""]);
    // Rows are sent side by side; later recipes expect Ann before Bob.
    await type("surveyctl people add --email ann@example.com --no-send");
    expect((await type(send)).status).toBe(0);
    expect([await rows("customers.csv.people-import.results.csv", 0, 1, 2), others]).toEqual([
      [
        ["2", "ann@example.com", "scheduled"],
        ["3", "bob@example.com", "scheduled"],
      ],
      [],
    ]);
  });

  it("when cron exports every night, then each answer is in the file once", async () => {
    const [search, entry = "", ...others] = recipe("A nightly export from cron");
    expect(search).toMatch(/^PATH=.*:\/usr\/bin:\/bin$/);
    const night = withoutTimes(entry);
    await type(`printf %s ${KEY} | surveyctl auth login --base-url ${service.baseUrl} --profile prod`, {});
    expect((await type("surveyctl responses import history.csv --concurrency 1")).status).toBe(0);
    const bare = { status: 0, stdout: "", stderr: "", signal: null };
    expect([await type(night, {}), await type(night, {})]).toEqual([bare, bare]);
    await type("surveyctl responses add --email ann@example.com --score 0 --comment Worse");
    expect(await type(night, {})).toEqual(bare);
    const answers = await rows("responses.csv", 2, 5, 6);
    expect([answers, (await stat(path.join(work, "responses.csv"))).mode & 0o777, others]).toEqual([
      [
        ["ann@example.com", "10", ""],
        ["bob@example.com", "3", "Too slow"],
        ["ann@example.com", "0", "Worse"],
      ],
      0o600,
      [],
    ]);
  });

  it("when the score falls, then a mail says which assertion did not hold", async () => {
    const [alert = "", ...others] = recipe("An alert when the score falls");
    expect([(await type(alert)).status, await file("mail.txt"), others]).toEqual([
      0,
      [
        "-s NPS team@example.com",
        "nps\t-33",
        "response_count\t3",
        "error: assertion failed: nps>=40 (nps is -33); response_count>=20 (response_count is 3)",
        "",
      ].join("\n"),
      [],
    ]);
  });

  it("when a report is written, then it is true, and cron mails the week and posts it", async () => {
    await script("sendmail", `{ echo "$@"; cat; } > sent.txt`);
    await script("curl", "cat > posted.txt");
    const [report = "", verify = "", ...entries] = recipe("A report, and a weekly message");
    expect((await type(report)).stderr).toMatch(/^Wrote nps\.html/m);
    expect(await type(verify)).toMatchObject({ status: 0, stdout: "same\n" });
    for (const line of entries) expect(await type(withoutTimes(line), {})).toMatchObject({ status: 0, stderr: "" });
    const sentence = /NPS -33, between -\d+ and \d+; 3 answers, too few to say\./;
    const [mail, post] = await Promise.all([file("sent.txt"), file("posted.txt")]);
    await rm(path.join(service.folder, "bin", "curl"));
    expect([mail, post]).toEqual([expect.stringMatching(sentence), expect.stringMatching(sentence)]);
    expect(mail).toMatch(/^-t\nFrom: /);
  });

  it.runIf(isInstalled("jq"))("when rows go to jq, then it reads them (runs where jq is installed)", async () => {
    const outputs = [];
    for (const line of recipe("With jq")) outputs.push(await type(line));
    expect(outputs.map(({ status, stdout }) => [status, stdout])).toEqual([
      [0, "free\tToo slow\n\tWorse\n"],
      [0, "ann@example.com\nbob@example.com\n"],
    ]);
  });

  it("when somebody has not answered for a month, then they are asked again", async () => {
    const [list = "", send = "", ...others] = recipe("Ask again who did not answer");
    await type("surveyctl people add --email cleo@example.com --no-send --last-sent-at 60d --property plan=pro");
    expect((await type(list)).status).toBe(0);
    expect((await type(send)).status).toBe(0);
    expect([await rows("unanswered.csv.people-import.results.csv", 1, 2), others]).toEqual([
      [["cleo@example.com", "scheduled"]],
      [],
    ]);
    await type("surveyctl people delete cleo@example.com --yes");
  });

  it("when people move to the other platform of Autopilot, then they are removed from the first", async () => {
    const [list = "", move = "", ...others] = recipe("Move people from one Autopilot platform to the other");
    await type("surveyctl people add --email dora@example.com --phone +14155550177 --no-send");
    await type("surveyctl autopilot add --email dora@example.com --property plan=pro");
    expect((await type(list)).status).toBe(0);
    expect((await type(move)).status).toBe(0);
    const left = await type("surveyctl autopilot list --platform email --count");
    const moved = await type("surveyctl autopilot list --platform sms --columns person_email,properties.plan");
    expect([left.stdout, moved.stdout, others]).toEqual(["0\n", "dora@example.com\tpro\n", []]);
    await type("surveyctl people delete dora@example.com --yes");
  });

  it.runIf(isInstalled("curl"))(
    "when a script's base URL is changed, then it works on (runs where curl is installed)",
    async () => {
      const [serve, ...lines] = recipe("Move a script from a hosted service that closed");
      expect(serve).toBe(`SURVEYCTL_API_KEY=${KEY} surveyctl serve --data survey.db --port 8080`);
      const { status, stdout } = await type(lines.join("; echo; "), {});
      const [, listed = "", added = ""] = stdout.split("\n");
      expect([status, JSON.parse(listed), JSON.parse(added)]).toMatchObject([
        0,
        [{ email: "ann@example.com", name: "Ann" }],
        { email: "carl@example.com", properties: { plan: "pro" }, survey_scheduled_at: null },
      ]);
    },
  );

  it("when everybody is asked again and again, then the dates are told before, and rehearsed", async () => {
    await writeFile(path.join(work, "members.csv"), "email,name\nann@example.com,Ann\ngrace@example.com,Grace\n");
    const lines = recipe("Ask everybody again and again");
    const ended: Ended[] = [];
    for (const line of lines) ended.push(await onService(line));
    expect(ended.map(({ status }) => status)).toEqual([0, 0, 0, 0, 0]);
    const day = String.raw`\d{4}-\d\d-\d\d`;
    expect(ended[3]?.stderr).toMatch(new RegExp(`^2 members: surveys from ${day} to ${day}$`, "m"));
    // Four rounds of two people, and reminders to those who have not answered.
    const months = ended[4]?.stdout.trim().split("\n") ?? [];
    expect(months.reduce((sum, line) => sum + Number(line.split("\t")[1]), 0)).toBeGreaterThanOrEqual(6);
  });

  it("when the settings are kept in a file, then the difference is shown, applied, and gone", async () => {
    const [print = "", look = "", apply = "", ...others] = recipe("Settings under version control");
    expect(await onService(print)).toMatchObject({ status: 0, stdout: "", stderr: "" });
    await writeFile(
      path.join(work, "survey.yaml"),
      (await file("survey.yaml")).replace("throttle: 30d", "throttle: off"),
    );
    const change = { status: 0, stdout: "change\tthrottle\t30d\toff\n" };
    expect([await onService(look), await onService(apply), await onService(apply), others]).toMatchObject([
      { ...change, stderr: "1 setting would change. Nothing was changed.\n" },
      { ...change, stderr: "Changed 1 setting of project default.\n" },
      { stdout: "", stderr: "Nothing to change.\n" },
      [],
    ]);
  });

  it("when no command makes a call, then api does", async () => {
    await type("surveyctl people add --email ada@example.com --no-send");
    const [list = "", ...others] = recipe("A call that no command makes");
    const { status, stdout } = await type(list);
    expect([status, stdout.match(/ada@example\.com/g), others]).toEqual([0, ["ada@example.com"], []]);
  });
});

/** Types the README's recipes in order, with the server and people of its quick start. */
import { once } from "node:events";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { createServer, type AddressInfo } from "node:net";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { isInstalled } from "./helpers/installed.ts";
import { isLong } from "./helpers/long.ts";
import { openResident, runShell, type Resident } from "./helpers/resident.ts";
import { bareEnvironment, shellProgram, type Ended } from "./helpers/run-cli.ts";
import { startServe, type Served } from "./helpers/serve.ts";

const KEY = "the-key-of-the-readme";

interface Recipe {
  readonly typed: readonly string[];
  readonly cron: readonly string[];
}

let readme: string;
let recipes: ReadonlyMap<string, Recipe>;
let service: Served;
let work: string;
let second: string;
let resident: Resident | null = null;

beforeAll(async () => {
  readme = await readFile(path.join(import.meta.dirname, "../README.md"), "utf8");
  recipes = readRecipes();
  service = await startServe({ apiKey: KEY });
  work = service.folder;
  second = `:${await freePort()}`;
  for (const name of ["bin", "home"]) await mkdir(path.join(work, name));
  if (isLong) await script("surveyctl", `exec ${shellProgram()} "$@"`);
  else resident = await openResident(path.join(work, "bin"), work);
  // Stands in for `serve --login`.
  await type(`printf %s '${KEY}' | surveyctl auth login --base-url http://127.0.0.1:8080`);
}, 60_000);
afterAll(async () => {
  await resident?.close();
  await service.stop();
});

function chapter(title: string): string {
  return new RegExp(`^## ${title}\n(.*?)^## `, "ms").exec(readme)?.[1] ?? "";
}

function firstFiveMinutes(): string[] {
  const typed = [...chapter("Five minutes").matchAll(/^\$ (.*)$/gm)].map(([, line = ""]) => line);
  return typed.filter((line) => !line.startsWith("surveyctl serve "));
}

function readRecipes(): Map<string, Recipe> {
  const entries = chapter("Recipes").split(/^\*\*/m).slice(1);
  return new Map(
    entries.map((entry) => [
      /^[^*]*?(?=[.:]?\*\*)/.exec(entry)?.[0] ?? "",
      { typed: linesIn("sh", entry), cron: linesIn("crontab", entry) },
    ]),
  );
}

function linesIn(language: string, entry: string): string[] {
  const blocks = [...entry.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms"))];
  return blocks.flatMap(([, block = ""]) => block.trimEnd().split("\n"));
}

async function script(name: string, body: string): Promise<void> {
  await writeFile(path.join(work, "bin", name), `#!/bin/sh\n${body}\n`, { mode: 0o755 });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** Replaces the README's addresses, key and cron folder. */
async function type(line: string): Promise<Ended> {
  const command = line
    .replaceAll("http://127.0.0.1:8080", service.baseUrl)
    .replaceAll(":8081", second)
    .replace("--port 8081", `--port ${second.slice(1)}`)
    .replace("/var/exports", work);
  const env = bareEnvironment(path.join(work, "home"), {
    PATH: `${path.join(work, "bin")}:${process.env.PATH ?? ""}`,
  });
  return runShell(command, { folder: work, cwd: work, env, stdin: "" });
}

async function follow(title: string): Promise<Ended[]> {
  const ended: Ended[] = [];
  for (const line of lines(title).typed) ended.push(await type(line));
  expect(ended.map(({ status, stderr }) => (status === 0 ? "" : stderr)).join("")).toBe("");
  return ended;
}

function lines(title: string): Recipe {
  const recipe = recipes.get(title);
  if (recipe === undefined) throw new Error(`no recipe "${title}"; there are ${[...recipes.keys()].join(", ")}`);
  return recipe;
}

function jobs(title: string): string[] {
  return lines(title).cron.flatMap((line) => (/^[\d*]/.test(line) ? [line.replace(/^(?:\S+ ){5} */, "")] : []));
}

function file(name: string): Promise<string> {
  return readFile(path.join(work, name), "utf8");
}

async function rows(name: string, ...columns: number[]): Promise<string[][]> {
  const [, ...found] = (await file(name)).trimEnd().split("\n");
  return found.map((line) => columns.map((column) => line.split(",")[column] ?? ""));
}

const TITLES = [
  "Import a list from a spreadsheet",
  "Export responses every night",
  "Get an alert when the score falls",
  "Send a report, or a weekly digest",
  "Filter responses and people",
  "Survey people again if they didn't answer",
  "Survey everyone every quarter",
  "Move Autopilot members from e-mail to text messages",
  "Keep settings under version control",
  "Call an endpoint that has no command",
  "Move a script from the closed service",
] as const;

test("every recipe is tested here", () => {
  expect([...recipes.keys()]).toEqual(TITLES);
});

describe("recipes in order", () => {
  it("the first five minutes are typed before them", async () => {
    for (const line of firstFiveMinutes()) expect([line, (await type(line)).status]).toEqual([line, 0]);
  });

  it("a spreadsheet is checked, then everyone in it is surveyed", async () => {
    const [, checked] = await follow(TITLES[0]);
    expect(checked?.stdout.match(/"email":"[^"]*"/g)).toEqual([
      '"email":"ann@example.com"',
      '"email":"bob@example.com"',
    ]);
    expect(await rows("customers.csv.people-import.results.csv", 0, 1, 2)).toEqual([
      ["2", "ann@example.com", "scheduled"],
      ["3", "bob@example.com", "scheduled"],
    ]);
  });

  it("cron's nightly export has each response once", async () => {
    await follow(TITLES[1]);
    expect(lines(TITLES[1]).cron[0]).toMatch(/^PATH=.*:\/usr\/bin:\/bin$/);
    const [night = ""] = jobs(TITLES[1]);
    const quiet = { status: 0, stdout: "", stderr: "", signal: null };
    expect(await type(night)).toEqual(quiet);
    await type("surveyctl responses add --email ann@example.com --score 0 --comment Worse");
    expect([await type(night), await type(night)]).toEqual([quiet, quiet]);
    expect([await rows("nightly.csv", 2, 5, 6), (await stat(path.join(work, "nightly.csv"))).mode & 0o777]).toEqual([
      [
        ["ada@example.com", "10", "Works every day for us."],
        ["alan@example.com", "6", ""],
        ["ann@example.com", "0", "Worse"],
      ],
      0o600,
    ]);
  });

  it("an alert names the assertions that failed", async () => {
    const failed = "error: assertion failed: response_count>=20 (response_count is 3)\n";
    const [typed] = await follow(TITLES[2]);
    expect(typed).toMatchObject({ stdout: expect.stringContaining("exit status 6\n") as string, stderr: failed });
    const [job = ""] = jobs(TITLES[2]);
    expect(await type(job)).toMatchObject({ status: 6, stdout: "", stderr: failed });
  });

  it("a report is written, and cron mails and posts the digest", async () => {
    const [report, , added] = await follow(TITLES[3]);
    expect(report?.stderr).toMatch(/^Wrote nps\.html/m);
    expect(added?.stdout).toContain("team@example.com");
    await script("sendmail", `{ echo "$@"; cat; } > sent.txt`);
    await script("curl", "cat > posted.txt");
    for (const job of jobs(TITLES[3])) expect(await type(job)).toMatchObject({ status: 0, stderr: "" });
    const sentence = /NPS -33, between -\d+ and \d+; 3 answers, too few to say\./;
    const [mail, post] = await Promise.all([file("sent.txt"), file("posted.txt")]);
    await rm(path.join(work, "bin", "curl"));
    expect([mail, post]).toEqual([expect.stringMatching(sentence), expect.stringMatching(sentence)]);
    expect(mail).toMatch(/^-t\nFrom: /);
  });

  it.runIf(isInstalled("jq"))("rows are filtered by flags and by jq (runs if jq is installed)", async () => {
    const [filtered, piped, people] = await follow(TITLES[4]);
    expect(filtered?.stdout).toBe("alan@example.com\t\t\nann@example.com\t\tWorse\n");
    expect(piped?.stdout).toBe("\t\n\tWorse\n");
    const names = ["ada", "alan", "ann", "bob"].map((name) => `${name}@example.com`);
    expect(people?.stdout.trimEnd().split("\n").toSorted()).toEqual(names);
  });

  it("people who haven't answered for a month are surveyed again", async () => {
    await type("surveyctl people add --email cleo@example.com --no-send --last-sent-at 60d --property plan=pro");
    await follow(TITLES[5]);
    expect(await rows("unanswered.csv.people-import.results.csv", 1, 2)).toEqual([["cleo@example.com", "scheduled"]]);
  });

  it("Autopilot prints the first dates, then a year of them", async () => {
    const ended = await follow(TITLES[6]);
    expect(ended[4]?.stderr).toMatch(/^1 member: surveys on \d{4}-\d\d-\d\d$/m);
    const weeks = ended[5]?.stdout.trim().split("\n") ?? [];
    // Three or four surveys to Dora, plus Ada's and Cleo's, which are already scheduled.
    expect(weeks.reduce((sum, line) => sum + Number(line.split("\t")[1]), 0)).toBeGreaterThanOrEqual(4);
  });

  it("members move from e-mail to text messages", async () => {
    await follow(TITLES[7]);
    const left = await type("surveyctl autopilot list --platform email --count");
    const moved = await type("surveyctl autopilot list --platform sms --columns person_email");
    expect([left.stdout, moved.stdout]).toEqual(["0\n", "dora@example.com\n"]);
  });

  it("a settings file is compared and applied", async () => {
    const [, look, apply] = await follow(TITLES[8]);
    expect([look?.stderr, apply?.stderr]).toEqual(["Nothing to change.\n", "Nothing to change.\n"]);
    await writeFile(
      path.join(work, "survey.yaml"),
      (await file("survey.yaml")).replace("throttle: 30d", "throttle: off"),
    );
    const [, again = "", change = ""] = lines(TITLES[8]).typed;
    const changed = { status: 0, stdout: "change\tthrottle\t30d\toff\n" };
    expect([await type(again), await type(change)]).toMatchObject([
      { ...changed, stderr: "1 setting would change. Nothing was changed.\n" },
      { ...changed, stderr: "Changed 1 setting of project default.\n" },
    ]);
  });

  it("api calls an endpoint", async () => {
    const [list] = await follow(TITLES[9]);
    expect(list?.stdout.match(/ada@example\.com/g)).toHaveLength(1);
  });

  it.runIf(isInstalled("curl"))("an old script works with a new base URL (runs if curl is installed)", async () => {
    const typed = lines(TITLES[10]).typed.join("\n");
    const { status, stdout } = await type(`${typed}\nstatus=$?; kill $!; wait $!; exit $status`);
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^\[\]\{"id":"\d+","email":"carl@example\.com",.*"plan":"pro"/),
    ]);
  });
});

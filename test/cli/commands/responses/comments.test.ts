import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { runInProcess, type Finished } from "../../../helpers/in-process.ts";
import { size } from "../../../helpers/long.ts";
import { responseRow, startListService, type ListService } from "../../../helpers/list-service.ts";
import { parseSearch } from "../../../../src/cli/commands/shared/comment-search.ts";

const START = 1_760_000_000;
let folder = "";
let service: ListService;
let rows: JsonObject[] = [];
beforeEach(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-comments-"));
  rows = Array.from({ length: 350 }, (_, index) => responseRow(index + 1, START + index * 60));
  service = await startListService({ lists: { survey_responses: rows } });
});
afterEach(async () => {
  await service.stop();
  await rm(folder, { recursive: true, force: true });
});

const type = (...args: string[]): Promise<Finished> => runInProcess({ args: ["responses", ...args], env: service.env });
const pagesAsked = (): string[] => service.requests.map(({ query }) => `${query.get("per_page")}/${query.get("page")}`);

describe("responses list with filters", () => {
  it("when a limit is given, then it counts the rows that match, and no page is read in vain", async () => {
    const { stdout, stderr } = await type("list", "--score", "10", "--limit", "12", "--columns", "id");
    const ids = stdout.trimEnd().split("\n").map(Number);
    expect([ids, pagesAsked(), stderr]).toEqual([
      Array.from({ length: 12 }, (_, index) => index * 11 + 10),
      ["100/1", "100/2"],
      "Showing 12 rows; use --limit N or --all for more\n",
    ]);
  });

  it("when the next page has no match, then it says that later ones may", async () => {
    Object.assign(rows[99] ?? {}, { tags: [{ name: "late" }, "spam"] });
    Object.assign(rows[340] ?? {}, { tags: ["late"] });
    const { stdout, stderr } = await type("list", "--tag", "late", "--limit", "1", "--columns", "id");
    expect([stdout, pagesAsked(), stderr]).toEqual([
      "100\n",
      ["100/1", "100/2"],
      "Showing 1 row; more may match: --limit N or --all for more\n",
    ]);
  });

  it("when everything matches all filters or nothing, then each row is there as the service sent it, or none", async () => {
    const filters = ["--score", "0-10", "--search", "QUÓTED", "--property", "plan=pro", "--has-comment"];
    const all = await type("list", ...filters, "--all", "-o", "ndjson");
    expect(all.stdout).toBe(rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const none = await type("list", ...filters, "--property", "seats=1", "--all", "-o", "json");
    expect([none.stdout, none.status]).toEqual(["[]\n", 0]);
  });

  it("when a number is too long for JavaScript, then masking leaves its digits", async () => {
    const text = JSON.stringify([responseRow(1, START, { comment: "ask ada@example.com" })]).replace(
      '"plan":"pro"',
      '"account":12345678901234567890,"share":0.12345678901234567890',
    );
    await service.stop();
    service = await startListService({
      lists: {},
      onRequest: ({ query }) => ({ status: 200, body: query.get("page") === "1" ? text : "[]" }),
    });
    const { stdout } = await type("list", "--redact", "--all", "-o", "ndjson", "--quiet");
    expect(stdout).toContain('"comment":"ask [email-1]"');
    expect(stdout).toContain('"person_properties":{"account":12345678901234567890,"share":0.12345678901234567890}');
    expect(stdout).toContain('"person":"1001"');
  });
});

describe("a pattern", () => {
  // Each pattern runs until its timeout.
  const SLOW = ["(x+x+)+y", "(a|aa)+$", String.raw`(\w+\s?)*$`, String.raw`^(([a-z])+.)+[A-Z]([a-z])+$`];
  it.each(SLOW.slice(0, size(1, SLOW.length)))(
    "when %s would take years, then it is refused before anything is sent",
    async (pattern) => {
      const { status, stderr } = await type("list", "--search", pattern);
      expect([status, stderr.split("\n")[0], service.requests.length]).toEqual([
        2,
        `error: --search: ${JSON.stringify(pattern)} takes too long to match`,
        0,
      ]);
    },
  );

  it("when only a comment shows that it takes years, then the list ends with the same sentence", () => {
    const search = parseSearch("(?:ab|a-?b)+!", "--search");
    expect(() => search.matchEach(["ab".repeat(60)])).toThrow('--search: "(?:ab|a-?b)+!" takes too long to match');
  });

  it.each(["refund|invoice", "(a+)b", String.raw`\p{Lu}+x?y{2,3}`])("when %s is usual, then it is taken", (pattern) => {
    expect(parseSearch(pattern, "--search").matchEach(["nothing of it"])).toEqual([false]);
  });
});

const file = (name: string): string => path.join(folder, name);
const read = async (name: string): Promise<string> => readFile(file(name), "utf8");
const exportTo = (name: string, ...flags: string[]): Promise<Finished> =>
  type("export", "--out", file(name), "--quiet", ...flags);
const scores = ["--columns", "id,score"];

describe("responses export with filters", () => {
  it("when it goes on from a state, then rows that have come to match are added, and none twice", async () => {
    const nightly = ["--state", file("state"), "--append", "--score", "10", ...scores];
    const before = rows.filter(({ score }) => score === 10).map(({ id }) => `${id as string},10`);
    expect(await exportTo("tens.csv", ...nightly)).toMatchObject({ status: 0, stderr: "" });
    expect(await read("tens.csv")).toBe(`id,score\n${before.join("\n")}\n`);
    // A row that now matches, one that no longer does, and two new ones of which one matches.
    Object.assign(rows[0] ?? {}, { score: 10, updated_at: START + 90_000 });
    Object.assign(rows[9] ?? {}, { score: 0, updated_at: START + 90_001 });
    rows.push(responseRow(1000, START + 90_002, { score: 10 }), responseRow(1001, START + 90_003, { score: 9 }));
    expect(await exportTo("tens.csv", ...nightly)).toMatchObject({ status: 0, stderr: "" });
    expect(await exportTo("tens.csv", ...nightly)).toMatchObject({ status: 0, stderr: "" });
    expect(await read("tens.csv")).toBe(`id,score\n${[...before, "1,10", "1000,10"].join("\n")}\n`);
  });

  it.each([
    [["--score", "0-6"], "--score 0-6"],
    [[], "none"],
    [["--score", "10", "--redact"], "--score 10 --redact"],
    [["--score", "10", "--has-comment"], "--score 10 --has-comment"],
    [["--score", "10", "--tag", "a", "--property", "k=v"], "--score 10 --property k=v --tag a"],
  ])("when the next run has %j, then the state is refused", async (flags, now) => {
    await exportTo("tens.csv", "--state", file("state"), "--score", "10", ...scores);
    const { status, stderr } = await exportTo("tens.csv", "--state", file("state"), ...flags, ...scores);
    expect([status, stderr.split("\n")[0]]).toEqual([
      2,
      `error: --state: ${file("state")} belongs to other filters: --score 10 then, ${now} now`,
    ]);
  });

  it("when rows are masked, then two runs give the same bytes, whatever runs at once", async () => {
    const flags = ["--redact", "--flatten", "--per-page", "7", "--columns", "id,person_email,person_name,comment"];
    await exportTo("one.csv", ...flags, "--concurrency", "8");
    await exportTo("two.csv", ...flags, "--concurrency", "1");
    const [one, two] = [await read("one.csv"), await read("two.csv")];
    expect([one === two, one.split("\n").slice(0, 3)]).toEqual([
      true,
      [
        "id,person_email,person_name,comment,person_properties.plan",
        '1,[email-1],[name-1],"Comment 1, ""quoted""",pro',
        '2,[email-2],[name-2],"Comment 2, ""quoted""",pro',
      ],
    ]);
    expect(one.split("\n").length).toBe(352);
  });
});

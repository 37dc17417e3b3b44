import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { withStatistics } from "../../../../src/cli/commands/metrics/read-metrics.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { type FlagWords, flagWords } from "../../../helpers/flag-words.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { fakeDeps, NOW } from "../../../helpers/fake-deps.ts";
import { listedClient } from "../../../helpers/listed-client.ts";
import { responseRow } from "../../../helpers/list-service.ts";
import { size } from "../../../helpers/long.ts";
import { type Element, elementsOf, named, parseMarkup, textOf } from "../../../helpers/markup.ts";

const DAY = 86_400;
const TITLE = "Acme & <Sons>";

let folder = "";
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), "surveyctl-report-"));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function write(
  rows: readonly JsonObject[],
  flags: FlagWords = {},
  name = "nps.html",
  told: Parameters<typeof listedClient>[1] = {},
) {
  const file = path.join(folder, name);
  const { deps, out, err } = fakeDeps({ client: listedClient(rows, told) });
  const words = flagWords({ out: file, title: TITLE, ...flags });
  const ended = await runCommand(deps, ["report", ...words]).catch((error: unknown) => error);
  const text = await readFile(file, "utf8").catch(() => "");
  return { file, ended, out: out(), err: err(), text };
}

function history(count: number, more: (index: number) => JsonObject = () => ({})): JsonObject[] {
  return Array.from({ length: count }, (_, index) => {
    const share = index / count;
    const score = (index * 7 + (share > 0.4 && share < 0.6 ? 3 : 0)) % 11;
    const at = NOW - 90 * DAY + Math.floor(share * 90 * DAY);
    const plan = ["free", "pro", "enterprise"][index % 3] ?? "";
    const comment = index % 4 === 0 ? `Comment ${index} by Person ${index + 1}` : null;
    const row = { score, comment, person_properties: { plan, region: index % 2 ? "EMEA" : "APAC" } };
    return responseRow(index + 1, at, { ...row, ...more(index) });
  });
}

function countsOf(rows: readonly JsonObject[]): JsonObject {
  const count = (low: number, high: number): number =>
    rows.filter(({ score }) => Number(score) >= low && Number(score) <= high).length;
  const [promoters, passives, detractors] = [count(9, 10), count(7, 8), count(0, 6)];
  const nps = Math.round((100 * (promoters - detractors)) / rows.length);
  return { nps, promoter_count: promoters, passive_count: passives, detractor_count: detractors };
}

const ROWS = history(300);

describe("a report", () => {
  it("when the file is -, then it is written to stdout", async () => {
    const { deps, out, err } = fakeDeps({ client: listedClient(ROWS) });
    await runCommand(deps, ["report", ...flagWords({ out: "-", title: TITLE })]);
    expect(out()).toBe((await write(ROWS)).text);
    expect(err()).toMatch(/^Wrote the report to standard output \([\d,]+ B\): NPS /);
    expect(existsSync("-")).toBe(false);
  });

  it("has the numbers of metrics above everything else", async () => {
    const { text, ended, err } = await write(ROWS, { since: NOW - 30 * DAY });
    const rows = ROWS.filter(({ created_at: at }) => Number(at) >= NOW - 30 * DAY);
    const before = ROWS.filter(({ created_at: at }) => Number(at) < NOW - 30 * DAY && Number(at) >= NOW - 60 * DAY - 1);
    const { nps, nps_low, nps_high, n, verdict, change } = withStatistics(countsOf(rows), countsOf(before), 0.95);
    const page = parseMarkup(text);
    const said = (kind: string): string[] =>
      named(page, "p", kind).map((line) => textOf(line).replace(/\s+/g, " ").trim());
    expect([ended, verdict, said("number"), said("change"), said("rests")]).toEqual([
      0,
      "no evidence",
      [`NPS ${Number(nps)}`],
      [`${signed(Number(change))} points against the 30 days before: within chance`],
      [
        `Between ${Math.round(Number(nps_low))} and ${Math.round(Number(nps_high))} (95% interval) · ` +
          `${Number(n)} answers · Since 2 Jan 2026 12:00:00`,
      ],
    ]);
    expect(err).toMatch(/^Wrote .*nps\.html \([\d,]+ B\): NPS /);
  });

  it.each<[string, FlagWords, string, string[], string[]]>([
    ["running", {}, "from December 2025 to January 2026", ["Nov", "Dec", "Jan", "Feb*"], ["* not over yet."]],
    [
      "cut off by --until",
      { until: Date.parse("2026-01-10T23:59:59Z") / 1000 },
      "from November 2025 to December 2025",
      ["Nov", "Dec", "Jan*"],
      ["* only partly within the range."],
    ],
    [
      "cut off by --since, and running",
      { since: Date.parse("2025-12-15T00:00:00Z") / 1000 },
      "against the 49 days before",
      ["Dec*", "Jan", "Feb*"],
      ["* not over yet, or only partly within the range."],
    ],
    [
      "complete",
      { since: Date.parse("2025-12-01T00:00:00Z") / 1000, until: Date.parse("2026-01-31T23:59:59Z") / 1000 },
      "against the 62 days before",
      ["Dec", "Jan"],
      [],
    ],
  ])("marks a period that is %s, and does not compare it as a full one", async (_, request, words, labels, notes) => {
    const page = parseMarkup((await write(ROWS, { ...request, by: "month" })).text);
    const [chart] = named(page, "figure");
    const [broad] = named(chart as Element, "svg", "broad");
    const said = named(chart as Element, "p", "aside").map((note) => textOf(note).trim());
    const [table] = named(chart as Element, "table").map(cellsOf);
    const [change] = named(page, "p", "change");
    expect([
      textOf(change as Element).replace(/^.* points |: .*$/gs, ""),
      table?.map(([label = ""]) => label.replace(/^([A-Z][a-z]{2})[a-z]* 202[56]/, "$1")),
      named(broad as Element, "text", "label").map(textOf),
      said.filter((note) => note.startsWith("*")),
    ]).toEqual([words, labels, labels, notes]);
  });

  it("has no script, asks for nothing, and every chart has a title, a description and its numbers in a table", async () => {
    const { text } = await write(ROWS, { segment: "plan,region", since: NOW - 45 * DAY });
    const all = elementsOf(parseMarkup(text));
    const links = all.flatMap(({ attributes: { src, href } }) => [src, href].filter((link) => link !== undefined));
    const names = new Set(all.map(({ name }) => name));
    expect([links, names.has("script"), names.has("img"), text.includes("@import"), text.includes("url(")]).toEqual([
      ["data:,"],
      false,
      false,
      false,
      false,
    ]);
    expect(all.filter(({ attributes }) => Object.keys(attributes).some((key) => key.startsWith("on")))).toEqual([]);
    const policy = all.find(({ attributes }) => attributes["http-equiv"] === "Content-Security-Policy");
    expect(policy?.attributes["content"]).toBe("default-src 'none'; style-src 'unsafe-inline'; img-src data:");
    const figures = all.filter(({ name }) => name === "figure");
    const parts = figures.map((figure) => ["svg", "title", "desc", "table"].map((part) => named(figure, part).length));
    // Each figure has a wide and a narrow drawing.
    expect(parts).toEqual([1, 2, 3, 4].map(() => [2, 2, 2, 1]));
    const ids = all.flatMap(({ attributes: { id } }) => (id === undefined ? [] : [id]));
    const referred = all.flatMap(({ attributes }) => (attributes["aria-labelledby"] ?? "").split(" ").filter(Boolean));
    expect([new Set(ids).size, referred.filter((id) => !ids.includes(id))]).toEqual([ids.length, []]);
  });

  it("draws each point and bar where the ticks beside it say", async () => {
    const { text } = await write(ROWS, { by: "week" });
    const [scores, distribution] = named(parseMarkup(text), "svg", "broad");
    const [periodTable, scoreTable] = named(parseMarkup(text), "table").map(cellsOf);
    const place = leftScale(scores);
    const shown = named(scores as Element, "circle").map(({ attributes }) => Number(attributes["cy"]));
    const wanted = (periodTable ?? []).map(([, , nps]) => place(Number(nps)));
    expect(shown.length).toBeGreaterThan(12);
    expect(shown.map((y, index) => Math.abs(y - (wanted[index] ?? 0)) < 1)).toEqual(shown.map(() => true));
    const bars = named(distribution as Element, "rect").map(({ attributes }) => Number(attributes["height"]));
    const height = leftScale(distribution);
    const counts = (scoreTable ?? []).map(([, count]) => height(0) - height(Number(count)));
    expect(bars.map((bar, index) => Math.abs(bar - (counts[index] ?? 0)) < 1)).toEqual(Array(11).fill(true));
    expect(scoreTable?.reduce((sum, [, count]) => sum + Number(count), 0)).toBe(300);
  });

  it("draws the same numbers narrow for phones", async () => {
    const { text } = await write(ROWS, { by: "week", segment: "plan" });
    const drawn = (kind: string) =>
      named(parseMarkup(text), "svg", kind).map((svg) => [
        named(svg, "circle").length,
        named(svg, "rect").length,
        Number(svg.attributes["viewBox"]?.split(" ")[2]),
      ]);
    const [broad, narrow] = [drawn("broad"), drawn("narrow")];
    expect(narrow.map(([circles, rects]) => [circles, rects])).toEqual(
      broad.map(([circles, rects]) => [circles, rects]),
    );
    expect([broad.map(([, , width]) => width), narrow.map(([, , width]) => width)]).toEqual([
      [480, 480, 480],
      [320, 320, 320],
    ]);
  });

  it("shows ten comments of a kind, and folds the others", async () => {
    const rows = history(60, (index) => ({ score: index < 40 ? 2 : 10, comment: `Say ${index}` }));
    const groups = elementsOf(parseMarkup((await write(rows)).text)).filter(
      ({ name, attributes }) => name === "details" && attributes["class"] === "kind",
    );
    expect(
      groups.map((group) => [
        named(group, "summary").map((summary) => textOf(summary).trim()),
        named(group, "ol").map((list) => named(list, "li").length),
        named(group, "details").filter(({ attributes }) => "open" in attributes).length,
      ]),
    ).toEqual([
      [["Detractors: 40", "30 more"], [10, 30], 0],
      [["Promoters: 20", "10 more"], [10, 10], 0],
    ]);
  });

  it("folds comments with the same words", async () => {
    const rows = history(30, (index) => ({
      score: 9 + (index % 2),
      comment: index < 10 ? `Say ${index}` : index % 3 === 0 ? "Hello" : " hello\n",
    }));
    const [group] = named(parseMarkup((await write(rows)).text), "details", "kind");
    const items = named(group as Element, "li").map((item) => textOf(item).replace(/\s+/g, " ").trim());
    expect([named(group as Element, "summary").map((summary) => textOf(summary).trim()), items.slice(0, 2)]).toEqual([
      ["Promoters: 30", "1 more"],
      [expect.stringMatching(/^9–10 \d+ Jan 2026 · \[30\] · × 20 hello$/), expect.stringMatching(/ · \[10\] Say 9$/)],
    ]);
  });

  it("is named by brand and project, and states the response rate where the service tells them", async () => {
    const headers = { "x-survey-project": encodeURIComponent("Café (shop)") };
    const metrics = { email_sent_count: 1234, email_response_rate: 0.2143, sms_sent_count: 0, sms_response_rate: null };
    const told = { headers, metrics };
    const { text } = await write(ROWS, { title: null }, "told.html", told);
    const page = parseMarkup(text);
    const facts = named(page, "dl").map((list) => textOf(list).replace(/\s+/g, " "));
    expect([named(page, "h1").map(textOf), facts[0]?.includes("Response rate so far 21% of 1,234 emails")]).toEqual([
      ["Café (shop)"],
      true,
    ]);
    expect(text).not.toContain("No response rate");
    const kickers = [page, parseMarkup((await write(ROWS, { title: "Board" }, "board.html", told)).text)];
    expect(kickers.map((each) => named(each, "p", "kicker").map(textOf))).toEqual([
      ["Net Promoter Score"],
      ["Café (shop) · Net Promoter Score"],
    ]);
    const past = await write(ROWS, { until: NOW - 20 * DAY }, "past.html", told);
    expect(textOf(named(parseMarkup(past.text), "dl")[0] as Element)).not.toContain("so far");
    const inTrend = await write(ROWS, { trend: "7" }, "trend.html", told);
    expect(inTrend.text).not.toContain("1,234 emails");
    const untold = await write(ROWS, { title: null }, "untold.html");
    expect([named(parseMarkup(untold.text), "h1").map(textOf), untold.text.includes("No response rate")]).toEqual([
      ["Customer survey"],
      true,
    ]);
  });

  it("links each comment's id to its page with --links", async () => {
    const link = "https://survey.example.com/r/abc?expires=1&signature=x";
    const rows = history(12, (index) => ({ comment: `Say ${index}` }));
    const { text } = await write(rows, { links: true }, "links.html", { link });
    const links = elementsOf(parseMarkup(text)).filter(({ name }) => name === "a");
    expect([
      links.length,
      new Set(links.map(({ attributes }) => attributes["href"])),
      textOf(links[0] as Element),
    ]).toEqual([12, new Set([link]), expect.stringMatching(/^\[\d+\]$/)]);
    const { ended } = await write(rows, { links: true }, "none.html");
    expect(ended).toMatchObject({ name: "RefusedError", what: "this service signs no links" });
  });

  it("keeps hostile comments text, and cuts long ones", async () => {
    const hostile = [
      '</style><script>alert(1)</script><img src="http://evil.example/x.png" onerror=alert(1)>',
      "\u202Egnp.exe <b>bold</b> &amp; \u0000\u001b[31m",
      "x".repeat(10_000),
      "first\r\nsecond",
    ];
    const rows = history(60, (index) => ({ comment: hostile[index] ?? null }));
    const { text } = await write(rows);
    const page = parseMarkup(text);
    const quotes = named(page, "blockquote");
    expect(new Set(quotes.map((quote) => textOf(quote).replace(/[xX]{900,}/, "x…")))).toEqual(
      new Set([
        hostile[0],
        "\u202Egnp.exe <b>bold</b> &amp; \ufffd\ufffd[31m",
        "x…… (9,000 more characters)",
        "first\nsecond",
      ]),
    );
    expect(new Set(quotes.map(({ attributes }) => attributes["dir"]))).toEqual(new Set(["auto"]));
    expect(named(page, "script")).toEqual([]);
  });

  it("masks personal data, and shows it where that was asked for", async () => {
    const rows = history(40, (index) => ({ comment: index === 39 ? "Mail me: kim@example.com, Person 40" : null }));
    const said = async (personal: boolean): Promise<string[]> => {
      const { text } = await write(rows, { "show-personal-data": personal });
      return named(parseMarkup(text), "li").map((item) => textOf(item).replace(/\s+/g, " ").trim());
    };
    expect(await said(false)).toEqual([expect.stringMatching(/\[40\] Mail me: \[email-1\], \[name-1\]$/)]);
    expect(await said(true)).toEqual([
      expect.stringMatching(/\[40\] · Person 40 Mail me: kim@example\.com, Person 40$/),
    ]);
  });

  it("says that few answers are too few, and writes nothing where there are none", async () => {
    const few = await write(history(7), {}, "few.html");
    expect(named(parseMarkup(few.text), "p", "rests").map(textOf)).toEqual([
      expect.stringMatching(/ · 7 answers, too few to say · /),
    ]);
    const none = await write(ROWS, { until: NOW - 300 * DAY }, "none.html");
    expect([none.text, (none.ended as Error).name, (none.ended as Error).message.replace(`${folder}/`, "")]).toEqual([
      "",
      "NothingFoundError",
      "no answers in this period; none.html was not written",
    ]);
    const kept = await write(ROWS, { until: NOW - 300 * DAY }, "few.html");
    expect(kept.text).toBe(few.text);
  });

  it("says which property no answer has", async () => {
    const { text, ended } = await write(ROWS, { segment: "plan,campaign" }, "some.html");
    const notes = named(parseMarkup(text), "p", "aside").map((note) => textOf(note).trim());
    expect([ended, notes.filter((note) => note.includes("campaign"))]).toEqual([
      0,
      ["No answer has the property campaign."],
    ]);
  });

  it("refuses a property with too many values, and one that nobody has", async () => {
    const rows = history(60, (index) => ({ person_properties: { id: `v${index}` } }));
    const errors = [await write(rows, { segment: "id" }, "no.html"), await write(rows, { segment: "plan" }, "no.html")];
    expect(errors.map(({ ended, text }) => [(ended as Error).message, text])).toEqual([
      ["--segment: the property id has more than 50 values", ""],
      ["no response has the property plan", ""],
    ]);
  });

  it(`stays small with ${size(1000, 100_000)} answers and 200 long comments`, async () => {
    const long = "Die Rechnung war falsch & <falsch> ".repeat(40);
    const rows = history(size(1000, 100_000), (index) => ({ comment: `${index} ${long}` }));
    const { text } = await write(rows, { by: "day", segment: "plan,region" });
    expect(Buffer.byteLength(text)).toBeLessThan(300_000);
    const short = history(400, (index) => ({ comment: `Answer ${index}, as people write them, in a line or two.` }));
    const { text: usual } = await write(short, { by: "day", segment: "plan,region" });
    expect([named(parseMarkup(usual), "blockquote").length, Buffer.byteLength(usual) < 300_000]).toEqual([200, true]);
  });

  it("is the same for the same rows (golden file)", async () => {
    const rows = history(48, (index) => ({ comment: index > 43 ? `Say ${index} & "more"` : null }));
    const { text } = await write(rows, { since: NOW - 60 * DAY, by: "month", segment: "plan" });
    expect((await write(rows, { since: NOW - 60 * DAY, by: "month", segment: "plan" }, "again.html")).text).toBe(text);
    await expect(text).toMatchFileSnapshot("../../../golden/report/report.html.txt");
  });
});

function signed(change: number): string {
  return `${change > 0 ? "+" : ""}${change.toFixed(1)}`;
}

function cellsOf(table: Element): string[][] {
  return named(table, "tr")
    .slice(1)
    .map((row) =>
      elementsOf(row)
        .filter(({ name }) => name === "th" || name === "td")
        .map(textOf),
    );
}

function leftScale(svg: Element | undefined): (value: number) => number {
  const ticks = named(svg as Element, "text", "tick").map((tick) => ({
    value: Number(textOf(tick)),
    y: Number(tick.attributes["y"]),
  }));
  const [first, last] = [ticks[0], ticks.at(-1)];
  if (first === undefined || last === undefined || first === last) throw new Error("a chart without ticks");
  return (value) => first.y + ((value - first.value) / (last.value - first.value)) * (last.y - first.y);
}

import { describe, expect, it, test } from "vitest";
import { toSparkline } from "../../../../src/cli/commands/metrics/pictures.ts";
import { intervalFields } from "../../../../src/cli/commands/metrics/statistics.ts";
import type { Parameters } from "../../../../src/client/client.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { asReply, fakeClient } from "../../../helpers/fake-client.ts";
import { type FlagWords, flagWords } from "../../../helpers/flag-words.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { fakeDeps, type FakeOptions, NOW } from "../../../helpers/fake-deps.ts";

const DAY = 86_400;
const TODAY = NOW - (NOW % DAY);

const metrics = (nps: number, promoters: number, passives: number, detractors: number): JsonObject => ({
  nps,
  promoter_count: promoters,
  promoter_percent: 50,
  passive_count: passives,
  passive_percent: 25,
  detractor_count: detractors,
  detractor_percent: 25,
  response_count: promoters + passives + detractors,
});

const withInterval = (json: JsonObject): JsonObject => ({ ...json, ...intervalFields(json, 0.95) });

const constant = (): JsonObject => metrics(51, 32, 13, 6);
const withEmails = (): JsonObject => ({ ...constant(), email_sent_count: 7 });
const onlyEmails = (): JsonObject => ({ email_sent_count: 7, email_open_count: 3 });
/** The NPS drops by one per day before today. */
const byDay = ({ since }: Parameters): JsonObject => metrics(10 - (TODAY - Number(since)) / DAY, 40, 20, 20);

async function run(
  flags: FlagWords,
  world: FakeOptions & { readonly answer?: (parameters: Parameters) => JsonObject } = {},
) {
  const { client, calls } = fakeClient({ metrics: world.answer ?? constant });
  const { deps, out, err } = fakeDeps({ client, ...world });
  const ended = await runCommand(deps, ["metrics", ...flagWords(flags)]).catch((error: unknown) => error);
  return { ended, out: out(), err: err(), calls: calls.map(({ parameters }) => parameters) };
}

describe("metrics", () => {
  it("is a record", async () => {
    const lines = ["nps\t51", "promoter_count\t32", "promoter_percent\t50", "passive_count\t13", "passive_percent\t25"];
    const added = [
      "nps_low\t29.3",
      "nps_high\t67.0",
      "margin\t18.9",
      "confidence\t0.95",
      "method\tadjusted-wald",
      "n\t51",
    ];
    expect(await run({ since: 1, until: 2, trend: "t", group: "core,email" })).toEqual({
      ended: 0,
      out: [...lines, "detractor_count\t6", "detractor_percent\t25", "response_count\t51", ...added, ""].join("\n"),
      err: "",
      calls: [{ since: 1, until: 2, trend: "t", groups: ["core", "email"] }],
    });
  });

  it.each([
    [constant(), 0.95, "51  (29 … 67, 95%, n 51)"],
    [metrics(50, 2, 1, 1), 0.9, "50  (-35 … 63, 90%, n 4: too few to say)"],
    [metrics(0, 0, 0, 0), 0.95, "–"],
  ])("is a table in a pipe that says how sure %j is", async (json, confidence, score) => {
    const { out } = await run({ confidence }, { answer: () => json, options: { output: "table" } });
    expect(out.split("\n")[0]).toBe(`nps                ${score}`);
    const chosen = await run({ confidence }, { answer: () => json, options: { output: "table", columns: ["nps"] } });
    expect(chosen.out).toBe(`nps  ${score.split(" ")[0] ?? ""}\n`);
  });

  it("is a card on a terminal", async () => {
    expect((await run({}, { width: 60 })).out.split("\n")).toEqual([
      "█▀▀ ▀█    NPS 51  (29 … 67, 95%, n 51)",
      "▀▀█  █    the service's default range, 51 responses",
      "▀▀▀ ▀▀▀",
      "",
      `promoters   ${"█".repeat(23)}${" ".repeat(15)} 50%  32`,
      `passives    ${"█".repeat(9)}${" ".repeat(29)} 25%  13`,
      `detractors  ${"█".repeat(4)}${" ".repeat(34)} 25%   6`,
      "",
    ]);
  });

  it("is a card that shows the change beside each share", async () => {
    const before = ({ since }: Parameters): JsonObject =>
      since === TODAY ? metrics(51, 32, 13, 6) : { ...metrics(30, 20, 10, 10), promoter_percent: 44 };
    const range = { since: TODAY, until: TODAY + DAY - 1 };
    const { out } = await run({ ...range, compare: "previous", trend: "7" }, { width: 80, answer: before });
    expect(out.split("\n")).toEqual([
      "█▀▀ ▀█    NPS 51  (29 … 67, 95%, n 51)",
      "▀▀█  █    CHANGE +25  (-6 … +56, 95%: no evidence)",
      "▀▀▀ ▀▀▀   2026-02-01, trend 7, 51 responses",
      "          against 2026-01-31",
      "",
      `${" ".repeat(64)}CHANGE`,
      `promoters   ${"█".repeat(25)}${" ".repeat(17)} 50%  32      +6`,
      `passives    ${"█".repeat(10)}${" ".repeat(32)} 25%  13       0`,
      `detractors  ${"█".repeat(5)}${" ".repeat(37)} 25%   6       0`,
      "",
    ]);
  });

  it("is a card whose change is that of the interval beside it, and of JSON", async () => {
    const range = { since: TODAY, until: TODAY + DAY - 1, compare: "previous" };
    const answer = ({ since }: Parameters): JsonObject =>
      since === TODAY ? metrics(-100, 0, 0, 12) : metrics(100, 12, 0, 0);
    const { out } = await run(range, { width: 60, answer });
    expect(out.split("\n")[1]).toBe("▀▀▀  █  █ █ █ █   CHANGE -160  (-196 … -124, 95%: fall)");
    const columns = ["nps_change", "change", "change_low", "change_high"];
    const { out: csv } = await run(range, { answer, options: { output: "csv", columns } });
    expect(csv.split("\n")[1]).toBe("-200,-160,-196.5,-123.5");
  });

  it("is a card with the difference of the scores where a service sends no counts", async () => {
    const answer = ({ since }: Parameters): JsonObject => ({ nps: since === TODAY ? 40 : 35 });
    const { out } = await run({ since: TODAY, compare: "previous" }, { width: 60, answer });
    expect(out.split("\n")[1]).toBe("▀▀█ █ █   CHANGE +5");
  });

  it("is a card in ASCII where the locale knows nothing else", async () => {
    const { out } = await run({ since: TODAY - DAY + 5 }, { width: 60, options: { unicode: false } });
    expect(out.split("\n").slice(0, 4)).toEqual([
      "NPS 51  (29 ... 67, 95%, n 51)",
      "since 2026-01-31 00:00:05, 51 responses",
      "",
      `promoters   ${"#".repeat(23)}${" ".repeat(15)} 50%  32`,
    ]);
    expect(out).toMatch(/^[\n -~]+$/);
  });

  it("is a record on a terminal too where columns are chosen, or -o says so", async () => {
    expect((await run({}, { width: 60, options: { columns: ["nps"] } })).out).toBe("nps  51\n");
    expect((await run({}, { width: 60, options: { output: "record" } })).out.split("\n")[0]).toBe(
      "nps                51",
    );
  });

  it("lists the fields of other groups below the card", async () => {
    const { out } = await run({ group: "core,email" }, { width: 60, answer: withEmails });
    expect(out.split("\n").slice(-3)).toEqual(["", "email_sent_count  7", ""]);
  });

  it("colours the score and the change by their sign", async () => {
    const worse = ({ since }: Parameters): JsonObject => (since === TODAY ? metrics(-9, 4, 2, 5) : metrics(9, 5, 2, 4));
    const range = { since: TODAY, until: TODAY + DAY - 1, compare: "previous" };
    const { out } = await run(range, { width: 80, answer: worse, options: { color: true } });
    expect(out).toContain("NPS \u001b[31m-9\u001b[39m");
    // The change isn't significant, so it has no color.
    expect(out).toContain("CHANGE -14");
    const much = ({ since }: Parameters): JsonObject =>
      since === TODAY ? metrics(-100, 0, 0, 12) : metrics(100, 12, 0, 0);
    expect((await run(range, { width: 80, answer: much, options: { color: true } })).out).toContain(
      "CHANGE \u001b[31m-160\u001b[39m",
    );
  });

  it("shows the fields of other groups in every format", async () => {
    const options = { group: "core,email" };
    const csv = await run(options, { answer: withEmails, options: { output: "csv", columns: null } });
    expect(csv.out).toBe(
      "nps,promoter_count,promoter_percent,passive_count,passive_percent,detractor_count,detractor_percent,response_count," +
        "nps_low,nps_high,margin,confidence,method,n,email_sent_count\n" +
        "51,32,50,13,25,6,25,51,29.3,67.0,18.9,0.95,adjusted-wald,51,7\n",
    );
    const one = await run(options, { answer: withEmails, options: { output: "csv", columns: ["email_sent_count"] } });
    expect(one.out).toBe("email_sent_count\n7\n");
  });

  it("leaves out the core numbers when other groups alone are asked for", async () => {
    expect((await run({ group: "email" }, { answer: onlyEmails })).out).toBe(
      "email_sent_count\t7\nemail_open_count\t3\n",
    );
    const csv = { output: "csv", columns: null } as const;
    const { out } = await run(
      { group: "email", by: "day", since: TODAY, until: TODAY },
      { answer: onlyEmails, options: csv },
    );
    expect(out.split("\n")[0]).toBe("period,since,until,email_sent_count,email_open_count");
  });

  it("refuses a column that the core group has not", async () => {
    expect((await run({}, { options: { columns: ["email_sent_count"] } })).ended).toMatchObject({ name: "UsageError" });
  });
});

const none = (): JsonObject => metrics(0, 0, 0, 0);

describe("where nobody answered", () => {
  it("the score is empty in every format", async () => {
    const shown = async (output: "json" | "ndjson" | "csv" | "tsv"): Promise<string> =>
      (await run({}, { answer: none, options: { output, columns: ["nps", "response_count"] } })).out;
    expect(await Promise.all((["json", "ndjson", "csv", "tsv"] as const).map(shown))).toEqual([
      '{"nps":null,"response_count":0}\n',
      '{"nps":null,"response_count":0}\n',
      "nps,response_count\n,0\n",
      "nps\t\nresponse_count\t0\n",
    ]);
    expect(JSON.parse((await run({}, { answer: none, options: { output: "json" } })).out)).toEqual({
      ...withInterval(none()),
      nps: null,
      nps_low: null,
      nps_high: null,
      margin: null,
    });
  });

  it("the card says so", async () => {
    expect((await run({}, { answer: none, width: 60 })).out).toBe(
      "      NPS –  no responses\n▀▀▀   the service's default range, 0 responses\n\n\n",
    );
  });

  it("the table has a dash, and the sparkline a dot", async () => {
    const some = ({ since }: Parameters): JsonObject => (since === TODAY ? metrics(8, 4, 2, 2) : none());
    const { out } = await run({ by: "day", since: TODAY - DAY }, { answer: some, width: 80 });
    expect(
      out
        .split("\n")
        .slice(1, 3)
        .map((line) => line.slice(0, 16)),
    ).toEqual(["2026-01-31     –", "2026-02-01*    8"]);
    expect(out).toContain("nps  ·▯*  min 8, max 8\n* not over yet, ▯ under 10 answers\n");
  });

  it.each(["nps>=0", "nps<=0", "promoter_percent=0", "response_count>=1", "promoter_count>0"])(
    "--assert %s fails",
    async (text) => {
      const { ended } = await run({ assert: text }, { answer: none });
      expect(ended).toMatchObject({ message: `assertion failed: ${text} (no responses)` });
    },
  );

  it("a count is still a count", async () => {
    expect((await run({ assert: "response_count=0" }, { answer: none })).ended).toBe(0);
  });

  it("there is no change", async () => {
    const answer = ({ since }: Parameters): JsonObject => (since === TODAY ? constant() : none());
    const compared = await run({ since: TODAY, compare: "previous" }, { answer, options: { output: "json" } });
    expect(JSON.parse(compared.out)).not.toHaveProperty("nps_change");
    const { out } = await run({ since: TODAY, compare: "previous" }, { answer, width: 80 });
    expect(out).toContain("CHANGE –  no responses\n");
  });
});

describe("metrics --by", () => {
  it("is an array of periods with the API's fields in JSON", async () => {
    const { out, calls } = await run(
      { by: "day", since: TODAY - DAY, until: TODAY - 1 + DAY },
      { answer: byDay, options: { output: "json" } },
    );
    const first = {
      period: "2026-01-31",
      since: TODAY - DAY,
      until: TODAY - 1,
      ...withInterval(metrics(9, 40, 20, 20)),
    };
    const second = {
      period: "2026-02-01",
      since: TODAY,
      until: TODAY + DAY - 1,
      ...withInterval(metrics(10, 40, 20, 20)),
    };
    expect(out).toBe(`[\n${JSON.stringify(first)},\n${JSON.stringify(second)}\n]\n`);
    expect(calls).toEqual([
      { since: TODAY - DAY, until: TODAY - 1, trend: null, groups: null },
      { since: TODAY, until: TODAY + DAY - 1, trend: null, groups: null },
    ]);
  });

  it("marks periods that the range begins or ends within", async () => {
    const { out } = await run(
      { by: "month", since: TODAY - 40 * DAY, until: TODAY - DAY },
      { answer: byDay, width: 80 },
    );
    const periods = out.split("\n").flatMap((line) => /^20\d\d-\d\d\*?/.exec(line) ?? []);
    expect(periods).toEqual(["2025-12*", "2026-01*"]);
    expect(out).toMatch(/^nps {2}\S+\* {2}min [\d.-]+, max [\d.-]+\n\* only partly within the range$/m);
  });

  it("is a table with a sparkline on a terminal", async () => {
    const { out } = await run(
      { by: "day", since: TODAY - 2 * DAY, compare: "previous" },
      { answer: byDay, width: 120 },
    );
    expect(out).toBe(
      [
        "PERIOD       NPS  LOW  HIGH  CHANGE  VERDICT      RESPONSES  +/-  PROMOTERS %  PASSIVES %  DETRACTORS %",
        "2026-01-30     8  6.3  41.9       0  no evidence         80    0           50          25            25",
        "2026-01-31     9  6.3  41.9       0  no evidence         80    0           50          25            25",
        "2026-02-01*   10  6.3  41.9       0  no evidence         80    0           50          25            25",
        "",
        "nps  ▁▅█*  min 8, max 10",
        "* not over yet",
        "",
        "   50 ┤",
        "      ┤",
        "   40 ┤│           │           │",
        "      ┤│           │           │",
        "   30 ┤│           │           │",
        "      ┤│           │           │",
        "   20 ┤│           │           │",
        "      ┤│           │           │",
        "   10 ┤●           ●           ●",
        "      ┤│           │           │",
        "    0 ┤·························",
        "      ┤",
        "       2026-01-30  2026-01-31  2026-02-01*",
        "       ● NPS   │ 95% interval",
        "",
      ].join("\n"),
    );
  });

  it("draws the newest periods that a line has room for", async () => {
    const { out } = await run({ by: "day", since: TODAY - 69 * DAY }, { answer: byDay, width: 60 });
    const line = out.split("\n").find((each) => each.startsWith("nps")) ?? "";
    expect([line.length, line.slice(0, 10), line.slice(-25)]).toEqual([55, "nps  …▁▁▁▂", "▇▇▇▇███*  min -20, max 10"]);
  });

  it("shows the same numbers as CSV", async () => {
    const columns = ["period", "since", "until", "nps", "nps_change"];
    const { out } = await run(
      { by: "day", since: TODAY, compare: "previous" },
      { answer: byDay, options: { output: "csv", columns } },
    );
    expect(out).toBe("period,since,until,nps,nps_change\n2026-02-01,2026-02-01T00:00:00Z,2026-02-01T23:59:59Z,10,1\n");
  });
});

describe("metrics --compare previous", () => {
  it("compares with as long a time before", async () => {
    const { out, calls } = await run(
      { since: TODAY, until: TODAY + DAY - 1, compare: "previous" },
      { answer: byDay, options: { output: "json" } },
    );
    expect(calls).toEqual([
      { since: TODAY - DAY, until: TODAY - 1, trend: null, groups: null },
      { since: TODAY, until: TODAY + DAY - 1, trend: null, groups: null },
    ]);
    expect(JSON.parse(out)).toMatchObject({ nps: 10, nps_change: 1, response_count_change: 0 });
  });

  it.each([
    ["a month", "UTC", "2024-06-01T00:00:00Z", "2024-06-30T23:59:59Z", "2024-05-01T00:00:00Z"],
    ["a year", "UTC", "2025-01-01T00:00:00Z", "2025-12-31T23:59:59Z", "2024-01-01T00:00:00Z"],
    ["a quarter", "UTC", "2024-04-01T00:00:00Z", "2024-06-30T23:59:59Z", "2024-01-01T00:00:00Z"],
    [
      "a month whose clocks change",
      "Europe/Berlin",
      "2026-03-31T22:00:00Z",
      "2026-04-30T21:59:59Z",
      "2026-02-28T23:00:00Z",
    ],
    [
      "a day whose clocks change",
      "Europe/Berlin",
      "2026-03-28T23:00:00Z",
      "2026-03-29T21:59:59Z",
      "2026-03-27T23:00:00Z",
    ],
    ["thirty days that are no month", "UTC", "2024-06-02T00:00:00Z", "2024-07-01T23:59:59Z", "2024-05-03T00:00:00Z"],
    [
      "a month of another zone",
      "Europe/Berlin",
      "2024-06-01T00:00:00Z",
      "2024-06-30T23:59:59Z",
      "2024-05-02T00:00:00Z",
    ],
  ])("compares %s with the one before", async (_, timeZone, ...times) => {
    const [since = 0, until = 0, before = 0] = times.map((time) => Date.parse(time) / 1000);
    const { calls } = await run({ since, until, compare: "previous" }, { options: { timeZone } });
    expect(calls).toEqual([
      { since: before, until: since - 1, trend: null, groups: null },
      { since, until, trend: null, groups: null },
    ]);
  });

  it("needs to know how long that is", async () => {
    const message = "--compare previous requires --since or --by";
    expect((await run({ compare: "previous" })).ended).toMatchObject({ name: "UsageError", message });
  });
});

describe("how sure a change is", () => {
  const sides =
    (before: JsonObject, after: JsonObject) =>
    ({ since }: Parameters): JsonObject =>
      Number(since) >= TODAY ? after : before;
  const range = { since: TODAY, until: TODAY + DAY - 1, compare: "previous" };
  const changeOf = async (before: JsonObject, after: JsonObject, more: FlagWords = {}) => {
    const { out } = await run({ ...range, ...more }, { answer: sides(before, after), options: { output: "json" } });
    const { change, change_low, change_high, p, verdict } = JSON.parse(out) as JsonObject;
    return [change, change_low, change_high, p, verdict].map((value) =>
      typeof value === "number" ? Number(value.toFixed(3)) : value,
    );
  };

  it.each<[string, JsonObject, JsonObject, JsonObject[string][]]>([
    [
      "a change that may be chance",
      metrics(30, 100, 60, 40),
      metrics(40, 110, 60, 30),
      [9.852, -4.909, 24.613, 0.191, "no evidence"],
    ],
    ["a rise", metrics(33, 300, 200, 100), metrics(42, 330, 190, 80), [8.292, 0.05, 16.534, 0.049, "rise"]],
    ["a fall", metrics(42, 330, 190, 80), metrics(33, 300, 200, 100), [-8.292, -16.534, -0.05, 0.049, "fall"]],
    ["nine answers before", metrics(-100, 0, 0, 9), metrics(100, 90, 0, 0), [171.774, 139.838, 203.711, 0, "too few"]],
    ["nobody before", none(), metrics(100, 90, 0, 0), [null, null, null, null, "too few"]],
  ])("%s", async (_, before, after, expected) => {
    expect(await changeOf(before, after)).toEqual(expected);
  });

  it("rests on the three counts, and not on a number of responses that has others in it", async () => {
    const partials = { ...constant(), response_count: 400, promoter_percent: 8 };
    const { out } = await run({}, { answer: () => partials, options: { output: "json" } });
    expect(JSON.parse(out)).toEqual({ ...withInterval(constant()), response_count: 400, promoter_percent: 8 });
  });

  it("depends on the confidence that is asked for", async () => {
    const [before, after] = [metrics(33, 300, 200, 100), metrics(42, 330, 190, 80)];
    expect((await changeOf(before, after, { confidence: 0.99 })).at(-1)).toBe("no evidence");
    const { out } = await run({ confidence: 0.9 }, { width: 60 });
    expect(out).toContain("NPS 51  (32 … 64, 90%, n 51)");
  });

  it("comes with every period", async () => {
    const { out, calls } = await run(
      { by: "day", since: TODAY - DAY, until: TODAY, compare: "previous" },
      { answer: byDay, options: { output: "csv", columns: ["period", "nps_low", "n", "change", "verdict"] } },
    );
    expect(out).toBe(
      "period,nps_low,n,change,verdict\n2026-01-31,6.3,80,0,no evidence\n2026-02-01,6.3,80,0,no evidence\n",
    );
    expect(calls.length).toBe(3);
  });

  it("corrects verdicts for the number of periods, and says so", async () => {
    // One of twenty days is better, by as much as one in twenty would be by chance.
    const answer = ({ since }: Parameters): JsonObject =>
      since === TODAY - 5 * DAY ? metrics(25, 110, 60, 30) : metrics(20, 80, 80, 40);
    const days = { since: TODAY - 19 * DAY, until: TODAY, compare: "previous" };
    const options = { output: "json" } as const;
    const { out, err } = await run({ ...days, by: "day" }, { answer, options });
    const rows = JSON.parse(out) as { p: number; q: number; verdict: string; change: number }[];
    const best = rows.reduce((one, other) => (other.p < one.p ? other : one));
    expect([best.p < 0.05, best.q > 0.05, new Set(rows.map(({ verdict }) => verdict))]).toEqual([
      true,
      true,
      new Set(["no evidence"]),
    ]);
    expect(err).toBe("note: verdicts are corrected for 20 comparisons (Benjamini-Hochberg, by q)\n");
    const certain = ({ since }: Parameters): JsonObject =>
      Number(since) < TODAY ? metrics(50, 600, 300, 100) : metrics(-50, 100, 300, 600);
    const found = await run({ ...days, by: "day" }, { answer: certain, options });
    expect((JSON.parse(found.out) as { verdict: string }[]).at(-1)?.verdict).toBe("fall");
    const one = await run({ since: TODAY, compare: "previous", until: TODAY + DAY - 1 }, { answer: certain, options });
    expect([one.err, JSON.parse(one.out)]).toMatchObject(["", { verdict: "fall" }]);
    expect(JSON.parse(one.out)).not.toHaveProperty("q");
  });

  it("leaves periods with too few answers out of what is corrected", async () => {
    const answer = ({ since }: Parameters): JsonObject =>
      Number(since) < TODAY - DAY ? metrics(100, 2, 0, 0) : metrics(0, 40, 20, 40);
    const days = { since: TODAY - 3 * DAY, until: TODAY, compare: "previous", by: "day" } as const;
    const { out, err } = await run(days, { answer, options: { output: "csv", columns: ["q", "verdict"] } });
    expect([out, err]).toEqual(["q,verdict\n,too few\n,too few\n,too few\n1.000,no evidence\n", ""]);
  });
});

describe("metrics --raw", () => {
  it("prints the API's object as it came", async () => {
    const pretty = `{ "nps": 0,  "response_count": 0 }`;
    const { client } = fakeClient({ metrics: none });
    const getMetrics = async () => ({ ...asReply(none()), text: pretty });
    const { deps, out } = fakeDeps({ client: { ...client, getMetrics } });
    expect([await runCommand(deps, ["metrics", "--raw"]), out()]).toEqual([0, `${pretty}\n`]);
  });

  it.each<[string, NonNullable<FakeOptions["options"]>]>([["-o csv", { output: "csv" }]])(
    "is refused with %s",
    async (flag, options) => {
      const { ended, calls } = await run({ raw: true }, { options });
      expect([ended, calls]).toMatchObject([{ name: "UsageError" }, []]);
      expect(String(ended)).toContain(flag);
    },
  );
});

describe("metrics --assert", () => {
  it("compares what is computed", async () => {
    const holding = ["nps_low>=29", "nps_high<68", "margin<19", "confidence=0.95", "n>=51", "method=adjusted-wald"];
    expect((await run({ assert: holding })).ended).toBe(0);
    const { ended } = await run({ assert: "nps_low>=40" });
    expect(ended).toMatchObject({ message: "assertion failed: nps_low>=40 (nps_low is 29.2949)" });
  });

  it("compares a change, and its verdict", async () => {
    const answer = ({ since }: Parameters): JsonObject =>
      since === TODAY ? metrics(33, 300, 200, 100) : metrics(42, 330, 190, 80);
    const asked = ["change>=0", "p>0.05", "verdict!=fall", "verdict = fall"];
    const { ended } = await run({ since: TODAY, compare: "previous", assert: asked }, { answer });
    const told = "change>=0 (change is -8.2919); p>0.05 (p is 0.0486); verdict!=fall (verdict is fall)";
    expect(ended).toMatchObject({ message: `assertion failed: ${told}` });
    const nobody = await run(
      { since: TODAY, compare: "previous", assert: "change>=0" },
      {
        answer: ({ since }) => (since === TODAY ? constant() : none()),
      },
    );
    expect(nobody.ended).toMatchObject({
      message: "assertion failed: change>=0 (change is unknown: one side has no responses)",
    });
  });

  it("knows the fields of --compare only there, and the words of a verdict", async () => {
    expect((await run({ assert: "verdict!=fall" })).ended).toMatchObject({ name: "UsageError" });
    expect((await run({ assert: "verdict!=down" })).ended).toMatchObject({
      message: '--assert verdict: "down" is not one of rise, fall, no evidence, too few',
    });
  });

  it.each(["nps>=51", "nps<=51", "nps=51", "nps == 51", "nps!=50", "nps > -1", "response_count<51.5"])(
    "%s holds",
    async (text) => {
      expect((await run({ assert: text })).ended).toBe(0);
    },
  );

  it("fails once everything is shown", async () => {
    const { ended, out } = await run({ assert: ["nps>51", "promoter_count<32", "nps>0"] });
    expect(out).toContain("nps\t51\n");
    expect(ended).toMatchObject({
      name: "AssertionError",
      message: "assertion failed: nps>51 (nps is 51); promoter_count<32 (promoter_count is 32)",
    });
  });

  it("names the period", async () => {
    const { ended } = await run({ by: "day", since: TODAY - DAY, assert: "nps>9" }, { answer: byDay });
    expect(ended).toMatchObject({ message: "assertion failed: nps>9 in 2026-01-31 (nps is 9)" });
  });

  it.each(["nps", "nps>", ">4", "nps>=abc", "nps=>4", "NPS>4"])("%j is refused", async (text) => {
    const message = expect.stringContaining(`--assert: "${text}" is not an assertion`) as string;
    expect((await run({ assert: text })).ended).toMatchObject({ message });
  });

  it("refuses a field that nobody sends, before it connects", async () => {
    const { ended, calls } = await run({ assert: "npss>4" });
    expect([ended, calls]).toMatchObject([{ name: "UsageError" }, []]);
  });
});

const point = (nps: number | null): { nps: number | null; isFew: boolean } => ({ nps, isFew: false });

describe("pictures of numbers", () => {
  it.each<[(number | null)[], string]>([
    [[0, 50, 100], "▁▅█"],
    [[-100, null, 100], "▁·█"],
    [[7, 7], "▄▄"],
  ])("%j is %s", (values, expected) => {
    expect(toSparkline(values.map(point))).toBe(expected);
  });

  it("is drawn in ASCII where the locale knows nothing else", () => {
    expect(toSparkline([-100, null, 0, 100].map(point), false)).toBe("_ =#");
  });

  it("is hollow where too few answered, and those do not flatten the others", () => {
    const points = [point(0), { nps: -100, isFew: true }, point(10)];
    expect([toSparkline(points), toSparkline(points, false)]).toEqual(["▁▯█", "_o#"]);
  });
});

test("the interval contains the score that the service rounded", () => {
  const counts = { promoter_count: 533_960, passive_count: 266_080, detractor_count: 199_960 };
  const fields = intervalFields({ nps: 33, ...counts }, 0.95);
  expect([fields["nps_low"], Number(fields["nps_high"]) < 33.6]).toEqual([33, true]);
});

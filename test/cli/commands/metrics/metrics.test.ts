import { describe, expect, it } from "vitest";
import { parseAssertion } from "../../../../src/cli/commands/metrics/assertions.ts";
import { runMetrics, type MetricsOptions } from "../../../../src/cli/commands/metrics/show.ts";
import { shareCells, toSparkline } from "../../../../src/cli/commands/metrics/sparkline.ts";
import type { Parameters } from "../../../../src/client/client.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { fakeClient } from "../../../helpers/fake-client.ts";
import { fakeDeps, NOW, type FakeOptions } from "../../../helpers/fake-deps.ts";

const ALL: MetricsOptions = {
  since: null,
  until: null,
  trend: null,
  groups: null,
  by: null,
  compare: false,
  assertions: [],
};
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

const constant = (): JsonObject => metrics(51, 32, 13, 6);
const withEmails = (): JsonObject => ({ ...constant(), email_sent_count: 7 });
const onlyEmails = (): JsonObject => ({ email_sent_count: 7, email_open_count: 3 });
/** The NPS of a day: how many days it lies before today. */
const byDay = ({ since }: Parameters): JsonObject => metrics(10 - (TODAY - Number(since)) / DAY, 4, 2, 2);

async function run(
  options: Partial<MetricsOptions>,
  world: FakeOptions & { readonly answer?: (parameters: Parameters) => JsonObject } = {},
) {
  const { client, calls } = fakeClient({ metrics: world.answer ?? constant });
  const { deps, out, err } = fakeDeps({ client, ...world });
  const ended = await runMetrics(deps, { ...ALL, ...options }).catch((error: unknown) => error);
  return { ended, out: out(), err: err(), calls: calls.map(({ parameters }) => parameters) };
}

describe("metrics", () => {
  it("is a record", async () => {
    const lines = ["nps\t51", "promoter_count\t32", "promoter_percent\t50", "passive_count\t13", "passive_percent\t25"];
    expect(await run({ since: 1, until: 2, trend: "t", groups: ["core", "email"] })).toEqual({
      ended: 0,
      out: [...lines, "detractor_count\t6", "detractor_percent\t25", "response_count\t51", ""].join("\n"),
      err: "",
      calls: [{ since: 1, until: 2, trend: "t", groups: ["core", "email"] }],
    });
  });

  it("has a bar of its shares on a terminal", async () => {
    const { out } = await run({}, { width: 60 });
    expect(out.split("\n").slice(7)).toEqual([
      "response_count     51",
      "",
      `${"█".repeat(31)}${"▒".repeat(13)}${"░".repeat(6)}`,
      "█ 32 promoters  ▒ 13 passives  ░ 6 detractors",
      "",
    ]);
  });

  it("shows the fields of other groups in every format", async () => {
    const options = { groups: ["core", "email"] };
    const csv = await run(options, { answer: withEmails, options: { output: "csv", columns: null } });
    expect(csv.out).toBe(
      "nps,promoter_count,promoter_percent,passive_count,passive_percent,detractor_count,detractor_percent,response_count,email_sent_count\n" +
        "51,32,50,13,25,6,25,51,7\n",
    );
    const one = await run(options, { answer: withEmails, options: { output: "csv", columns: ["email_sent_count"] } });
    expect(one.out).toBe("email_sent_count\n7\n");
  });

  it("leaves out the core numbers when other groups alone are asked for", async () => {
    expect((await run({ groups: ["email"] }, { answer: onlyEmails })).out).toBe(
      "email_sent_count\t7\nemail_open_count\t3\n",
    );
    const csv = { output: "csv", columns: null } as const;
    const { out } = await run(
      { groups: ["email"], by: "day", since: TODAY, until: TODAY },
      { answer: onlyEmails, options: csv },
    );
    expect(out.split("\n")[0]).toBe("period,since,until,email_sent_count,email_open_count");
  });

  it("refuses a column that the core group has not", async () => {
    expect((await run({}, { options: { columns: ["email_sent_count"] } })).ended).toMatchObject({ name: "UsageError" });
  });
});

describe("metrics --by", () => {
  it("is an array of periods with the API's fields in JSON", async () => {
    const { out, calls } = await run(
      { by: "day", since: TODAY - DAY, until: TODAY - 1 + DAY },
      { answer: byDay, options: { output: "json" } },
    );
    const first = { period: "2026-01-31", since: TODAY - DAY, until: TODAY - 1, ...metrics(9, 4, 2, 2) };
    const second = { period: "2026-02-01", since: TODAY, until: TODAY + DAY - 1, ...metrics(10, 4, 2, 2) };
    expect(out).toBe(`[\n${JSON.stringify(first)},\n${JSON.stringify(second)}\n]\n`);
    expect(calls).toEqual([
      { since: TODAY - DAY, until: TODAY - 1, trend: null, groups: null },
      { since: TODAY, until: TODAY + DAY - 1, trend: null, groups: null },
    ]);
  });

  it("is a table with a sparkline on a terminal", async () => {
    const { out } = await run({ by: "day", since: TODAY - 2 * DAY, compare: true }, { answer: byDay, width: 120 });
    expect(out).toBe(
      [
        "PERIOD      NPS  CHANGE  RESPONSES  CHANGE  PROMOTERS %  PASSIVES %  DETRACTORS %",
        "2026-01-30    8      +1          8       0           50          25            25",
        "2026-01-31    9      +1          8       0           50          25            25",
        "2026-02-01   10      +1          8       0           50          25            25",
        "",
        "nps  ▁▅█  8 … 10",
        "",
      ].join("\n"),
    );
  });

  it("draws the newest periods that a line has room for", async () => {
    const { out } = await run({ by: "day", since: TODAY - 69 * DAY }, { answer: byDay, width: 60 });
    const line = out.split("\n").at(-2) ?? "";
    expect([line.length, line.slice(0, 10), line.slice(-14)]).toEqual([56, "nps  …▁▁▁▂", "▇███  -29 … 10"]);
  });

  it("shows the same numbers as CSV", async () => {
    const columns = ["period", "since", "until", "nps", "nps_change"];
    const { out } = await run(
      { by: "day", since: TODAY, compare: true },
      { answer: byDay, options: { output: "csv", columns } },
    );
    expect(out).toBe("period,since,until,nps,nps_change\n2026-02-01,2026-02-01T00:00:00Z,2026-02-01T23:59:59Z,10,1\n");
  });
});

describe("metrics --compare previous", () => {
  it("compares with as long a time before", async () => {
    const { out, calls } = await run(
      { since: TODAY, until: TODAY + DAY - 1, compare: true },
      { answer: byDay, options: { output: "json" } },
    );
    expect(calls).toEqual([
      { since: TODAY, until: TODAY + DAY - 1, trend: null, groups: null },
      { since: TODAY - DAY, until: TODAY - 1, trend: null, groups: null },
    ]);
    expect(JSON.parse(out)).toMatchObject({ nps: 10, nps_change: 1, response_count_change: 0 });
  });

  it("needs to know how long that is", async () => {
    const message = "--compare previous needs --since, or --by, to know how long a period is";
    expect((await run({ compare: true })).ended).toMatchObject({ name: "UsageError", message });
  });
});

describe("metrics --assert", () => {
  it.each(["nps>=51", "nps<=51", "nps=51", "nps == 51", "nps!=50", "nps > -1", "response_count<51.5"])(
    "%s holds",
    async (text) => {
      expect((await run({ assertions: [parseAssertion(text)] })).ended).toBe(0);
    },
  );

  it("fails once everything is shown", async () => {
    const { ended, out } = await run({ assertions: ["nps>51", "promoter_count<32", "nps>0"].map(parseAssertion) });
    expect(out).toContain("nps\t51\n");
    expect(ended).toMatchObject({
      name: "AssertionError",
      message: "nps>51 does not hold: nps is 51; promoter_count<32 does not hold: promoter_count is 32",
    });
  });

  it("names the period", async () => {
    const { ended } = await run(
      { by: "day", since: TODAY - DAY, assertions: [parseAssertion("nps>9")] },
      { answer: byDay },
    );
    expect(ended).toMatchObject({ message: "nps>9 does not hold in 2026-01-31: nps is 9" });
  });

  it.each(["nps", "nps>", ">4", "nps>=abc", "nps=>4", "NPS>4"])("%j is refused", (text) => {
    expect(() => parseAssertion(text)).toThrow(`--assert: "${text}" is not an assertion`);
  });

  it("refuses a field that nobody sends, before it connects", async () => {
    const { ended, calls } = await run({ assertions: [parseAssertion("npss>4")] });
    expect([ended, calls]).toMatchObject([{ name: "UsageError" }, []]);
  });
});

describe("pictures of numbers", () => {
  it.each<[(number | null)[], string]>([
    [[0, 50, 100], "▁▅█"],
    [[-100, null, 100], "▁·█"],
    [[7, 7], "▄▄"],
  ])("%j is %s", (values, expected) => {
    expect(toSparkline(values)).toBe(expected);
  });

  it.each([
    [[32, 13, 6], 50, [31, 13, 6]],
    [[1000, 1, 0], 10, [9, 1, 0]],
    [[0, 0, 0], 10, [0, 0, 0]],
    [[1, 1, 1], 10, [4, 3, 3]],
  ])("shares of %j in %i cells are %j", (counts, width, expected) => {
    expect(shareCells(counts, width)).toEqual(expected);
  });
});

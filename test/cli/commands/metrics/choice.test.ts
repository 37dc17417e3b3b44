/** `metrics` of responses that are chosen by what the API cannot filter by: counted from the rows. */
import { describe, expect, it } from "vitest";
import { type MetricsOptions, runMetrics } from "../../../../src/cli/commands/metrics/run.ts";
import { createPageFilter, type RowFilters } from "../../../../src/cli/commands/shared/row-filters.ts";
import { runHistogram } from "../../../../src/cli/commands/metrics/histogram.ts";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { fakeDeps, type FakeOptions, NOW } from "../../../helpers/fake-deps.ts";
import { listedClient } from "../../../helpers/listed-client.ts";
import { responseRow } from "../../../helpers/list-service.ts";

const DAY = 86_400;
const TODAY = NOW - (NOW % DAY);

/** Two a day for ten days: the one of `pro` says 10, the one of `free` 0, and on the last day both say 10. */
const ROWS = Array.from({ length: 20 }, (_, index): JsonObject => {
  const plan = index % 2 === 0 ? "pro" : "free";
  const score = plan === "pro" || index >= 18 ? 10 : 0;
  const at = TODAY - (9 - Math.floor(index / 2)) * DAY + 60;
  return responseRow(index + 1, at, { score, person_properties: { plan }, comment: index === 3 ? "Refund!" : null });
});

const NO_ROW_FILTERS: RowFilters = {
  scores: null,
  search: null,
  properties: [],
  hasComment: false,
  tags: [],
  answers: [],
};
const ALL: MetricsOptions = {
  since: null,
  until: null,
  trend: null,
  groups: null,
  choice: null,
  by: null,
  compare: false,
  confidence: 0.95,
  assertions: [],
  raw: false,
};

async function run(filters: Partial<RowFilters>, options: Partial<MetricsOptions> = {}, world: FakeOptions = {}) {
  const { deps, out, err } = fakeDeps({ client: listedClient(ROWS), ...world });
  const filterPage = createPageFilter({ ...NO_ROW_FILTERS, ...filters });
  const choice = filterPage === null ? null : { filterPage, words: "property plan=free" };
  const ended = await runMetrics(deps, { ...ALL, choice, ...options }).catch((error: unknown) => error);
  return { ended, out: out(), err: err() };
}

const csv = (...columns: string[]): FakeOptions => ({ options: { output: "csv", columns } });

describe("metrics of chosen responses", () => {
  it("are the fields of the API, counted here", async () => {
    const { out } = await run({ properties: [["plan", "free"]] }, {}, { options: { output: "json" } });
    expect(JSON.parse(out)).toMatchObject({
      nps: -80,
      promoter_count: 1,
      promoter_percent: 10,
      passive_count: 0,
      passive_percent: 0,
      detractor_count: 9,
      detractor_percent: 90,
      response_count: 10,
      n: 10,
      nps_low: -100,
      nps_high: expect.closeTo(-22.9, 1),
    });
  });

  it.each<[string, Partial<RowFilters>, string]>([
    ["score", { scores: new Set([10]) }, "100,11"],
    ["property", { properties: [["plan", "pro"]] }, "100,10"],
    ["comment", { hasComment: true }, "-100,1"],
    ["nothing", { properties: [["plan", "trial"]] }, ",0"],
  ])("by %s", async (_, filters, line) => {
    const { out } = await run(filters, {}, csv("nps", "response_count"));
    expect(out).toBe(`nps,response_count\n${line}\n`);
  });

  it("are compared with those before, of one reading", async () => {
    const filters = { properties: [["plan", "free"]] as const };
    const range = { since: TODAY - DAY, until: TODAY + DAY - 1, compare: true };
    const { out } = await run(filters, range, csv("nps", "response_count", "nps_change", "verdict"));
    expect(out).toBe("nps,response_count,nps_change,verdict\n0,2,100,too few\n");
  });

  it("come by period", async () => {
    const filters = { properties: [["plan", "free"]] as const };
    const range = { since: TODAY - 2 * DAY, until: TODAY + DAY - 1, by: "day", compare: true } as const;
    const { out } = await run(filters, range, csv("period", "nps", "response_count", "nps_change"));
    expect(out).toBe(
      "period,nps,response_count,nps_change\n2026-01-30,-100,1,0\n2026-01-31,-100,1,0\n2026-02-01,100,1,200\n",
    );
  });

  it("say on a card what was chosen", async () => {
    const { out } = await run({ properties: [["plan", "free"]] }, { since: TODAY - 20 * DAY }, { width: 80 });
    expect(out).toContain("since 2026-01-12, property plan=free, 10 responses");
  });

  it("are a histogram as well", async () => {
    const { deps, out } = fakeDeps({ client: listedClient(ROWS), ...csv("score", "n") });
    const filterPage = createPageFilter({ ...NO_ROW_FILTERS, properties: [["plan", "free"]] });
    await runHistogram(deps, {
      since: null,
      until: null,
      trend: null,
      choice: filterPage && { filterPage, words: "" },
    });
    expect(
      out()
        .split("\n")
        .filter((line) => !line.endsWith(",0")),
    ).toEqual(["score,n", "0,9", "10,1", ""]);
  });
});

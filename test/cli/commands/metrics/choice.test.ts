import { describe, expect, it } from "vitest";
import type { JsonObject } from "../../../../src/contract/json.ts";
import { type FlagWords, flagWords } from "../../../helpers/flag-words.ts";
import { runCommand } from "../../../helpers/run-command.ts";
import { fakeDeps, type FakeOptions, NOW } from "../../../helpers/fake-deps.ts";
import { listedClient } from "../../../helpers/listed-client.ts";
import { responseRow } from "../../../helpers/list-service.ts";

const DAY = 86_400;
const TODAY = NOW - (NOW % DAY);

/** Two responses a day for ten days: `pro` always scores 10, `free` scores 0 until 10 on the last day. */
const ROWS = Array.from({ length: 20 }, (_, index): JsonObject => {
  const plan = index % 2 === 0 ? "pro" : "free";
  const score = plan === "pro" || index >= 18 ? 10 : 0;
  const at = TODAY - (9 - Math.floor(index / 2)) * DAY + 60;
  return responseRow(index + 1, at, { score, person_properties: { plan }, comment: index === 3 ? "Refund!" : null });
});

async function run(flags: FlagWords, world: FakeOptions = {}) {
  const { deps, out, err } = fakeDeps({ client: listedClient(ROWS), ...world });
  const ended = await runCommand(deps, ["metrics", ...flagWords(flags)]).catch((error: unknown) => error);
  return { ended, out: out(), err: err() };
}

const FREE = { property: "plan=free" };
const csv = (...columns: string[]): FakeOptions => ({ options: { output: "csv", columns } });

describe("metrics of chosen responses", () => {
  it("are the fields of the API, counted here", async () => {
    const { out } = await run(FREE, { options: { output: "json" } });
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

  it.each<[string, FlagWords, string]>([
    ["score", { score: "10" }, "100,11"],
    ["property", { property: "plan=pro" }, "100,10"],
    ["comment", { "has-comment": true }, "-100,1"],
    ["nothing", { property: "plan=trial" }, ",0"],
  ])("by %s", async (_, filters, line) => {
    const { out } = await run(filters, csv("nps", "response_count"));
    expect(out).toBe(`nps,response_count\n${line}\n`);
  });

  it("are compared with those before, of one reading", async () => {
    const range = { since: TODAY - DAY, until: TODAY + DAY - 1, compare: "previous" };
    const { out } = await run({ ...FREE, ...range }, csv("nps", "response_count", "nps_change", "verdict"));
    expect(out).toBe("nps,response_count,nps_change,verdict\n0,2,100,too few\n");
  });

  it("come by period", async () => {
    const range = { since: TODAY - 2 * DAY, until: TODAY + DAY - 1, by: "day", compare: "previous" };
    const { out } = await run({ ...FREE, ...range }, csv("period", "nps", "response_count", "nps_change"));
    expect(out).toBe(
      "period,nps,response_count,nps_change\n2026-01-30,-100,1,0\n2026-01-31,-100,1,0\n2026-02-01,100,1,200\n",
    );
  });

  it("say on a card what was chosen", async () => {
    const { out } = await run({ ...FREE, since: TODAY - 20 * DAY }, { width: 80 });
    expect(out).toContain("since 2026-01-12, property plan=free, 10 responses");
  });

  it("are a histogram as well", async () => {
    const { out } = await run({ ...FREE, histogram: true }, csv("score", "n"));
    expect(out.split("\n").filter((line) => !line.endsWith(",0"))).toEqual(["score,n", "0,9", "10,1", ""]);
  });
});

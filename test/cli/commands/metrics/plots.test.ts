/** Plots at three terminal widths, with and without Unicode and colors. Add `-u` to update the files. */
import { describe, expect, it } from "vitest";
import { runCommand } from "../../../helpers/run-command.ts";
import { drawBands, drawHistogram, drawWhiskers, type ScorePoint } from "../../../../src/cli/commands/metrics/plots.ts";
import type { Client, Page } from "../../../../src/client/client.ts";
import type { RenderContext } from "../../../../src/cli/render/columns.ts";
import { FEW_ANSWERS, netPromoterScore, scoreInterval } from "../../../../src/insight/interval.ts";
import { fakeDeps, NOW } from "../../../helpers/fake-deps.ts";
import { responseRow } from "../../../helpers/list-service.ts";

function point(label: string, detractors: number, passives: number, promoters: number): ScorePoint {
  const counts = { detractors, passives, promoters };
  const interval = scoreInterval(counts);
  const n = detractors + passives + promoters;
  const ends = { low: interval?.low ?? null, high: interval?.high ?? null };
  return { label, nps: netPromoterScore(counts), ...ends, n, isFew: n < FEW_ANSWERS };
}

/** A year with a slump in summer, no answers in August and few in September. */
const MONTHS = [
  point("2025-03", 6, 13, 32),
  point("2025-04", 8, 15, 40),
  point("2025-05", 10, 20, 30),
  point("2025-06", 20, 20, 20),
  point("2025-07", 35, 20, 10),
  point("2025-08", 0, 0, 0),
  point("2025-09", 1, 2, 3),
  point("2025-10", 12, 20, 28),
  point("2025-11", 40, 60, 100),
  point("2025-12", 0, 0, 50),
  point("2026-01", 54, 108, 162),
  point("2026-02*", 16, 30, 61),
];

const SEGMENTS = [
  point("plan=free", 35, 20, 10),
  point("plan=pro", 40, 60, 100),
  point("plan=a name that is longer than there is room for", 1, 2, 3),
  point("region=日本", 0, 0, 50),
  point("region=\u001b[31mred", 6, 13, 32),
];

const SCORES = [4, 0, 1, 2, 0, 7, 9, 30, 78, 101, 1203];

const context = (width: number, unicode: boolean, color = false): RenderContext =>
  fakeDeps({ width, options: { unicode, color } }).deps;

const PLOTS: readonly (readonly [name: string, draw: (context: RenderContext) => string])[] = [
  ["bands", (where) => drawBands(where, MONTHS, 0.95)],
  ["whiskers", (where) => drawWhiskers(where, SEGMENTS)],
  ["histogram", (where) => drawHistogram(where, SCORES)],
];

describe.each(PLOTS)("%s", (name, draw) => {
  it.each([60, 80, 120])("of %i columns", async (width) => {
    const [drawn, ascii] = [draw(context(width, true)), draw(context(width, false))];
    await expect(`${drawn}\n${ascii}`).toMatchFileSnapshot(`../../../golden/plots/${name}-${width}.txt`);
    const wide = `${drawn}${ascii}`.split("\n").filter((line) => Array.from(line).length > width);
    expect(wide).toEqual([]);
  });

  it("is ASCII where the locale is", () => {
    const labels = /[日本]/g;
    expect(draw(context(80, false)).replaceAll(labels, "")).toMatch(/^[\n -~]+$/);
  });

  it("says nothing in colours alone", () => {
    // oxlint-disable-next-line no-control-regex -- the escapes are what is looked for.
    const withoutColours = draw(context(80, true, true)).replaceAll(/\u001b\[\d+m/g, "");
    expect(withoutColours).toBe(draw(context(80, true)));
  });

  it("is left out where a terminal is too narrow", () => {
    expect(draw(context(59, true))).toBe("");
  });
});

describe("a chart of bands", () => {
  it("is twelve rows high, its labels and its legend", () => {
    expect(drawBands(context(80, true), MONTHS, 0.95).split("\n").length).toBe(12 + 2 + 1);
  });

  it("shows the newest where there are more periods than columns", () => {
    const many = Array.from({ length: 200 }, (_, index) => point(`day ${index}`, 5, 5, 10));
    const lines = drawBands(context(60, true), many, 0.9).split("\n");
    expect(lines.slice(-3)).toEqual([`       day 147${" ".repeat(39)}day 199`, "       ● NPS   │ 90% interval", ""]);
    expect(lines.every((line) => line.length <= 60)).toBe(true);
  });

  it("is none without a score", () => {
    expect(drawBands(context(80, true), [point("2026-01", 0, 0, 0)], 0.95)).toBe("");
  });
});

describe("metrics --histogram", () => {
  const rows = [0, 6, 7, 10, 10, 11].map((score, id) => responseRow(id, NOW, { score }));
  const page: Client["page"] = async ({ parameters }): Promise<Page> => {
    const shown = parameters["page"] === 1 ? rows : [];
    return { rows: shown, text: JSON.stringify(shown), next: null, serverTime: NOW };
  };
  const words = ["metrics", "--histogram"];

  it("is eleven rows in a pipe", async () => {
    const { deps, out } = fakeDeps({ client: { page }, options: { output: "csv" } });
    expect([await runCommand(deps, words), out()]).toEqual([
      0,
      "score,n,share\n0,1,0.2\n1,0,0\n2,0,0\n3,0,0\n4,0,0\n5,0,0\n6,1,0.2\n7,1,0.2\n8,0,0\n9,0,0\n10,2,0.4\n",
    ]);
  });

  it("is bars on a terminal, and a table on a narrow one", async () => {
    const wide = fakeDeps({ client: { page }, width: 60 });
    await runCommand(wide.deps, words);
    expect(wide.out().split("\n")[0]).toBe(`10  ${"█".repeat(44)}  2    40.0%`);
    const narrow = fakeDeps({ client: { page }, width: 40 });
    await runCommand(narrow.deps, words);
    expect(narrow.out().split("\n").slice(0, 2)).toEqual(["SCORE  N  SHARE", "    0  1  20.0%"]);
  });
});

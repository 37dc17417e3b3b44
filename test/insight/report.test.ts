import { describe, expect, it } from "vitest";
import { drawPeriodScores, linearScale } from "../../src/insight/report/charts.ts";
import { formatCount } from "../../src/contract/text/whole-number.ts";
import { cutText, headline, pointsText, scoreText, signedText } from "../../src/insight/report/facts.ts";
import { REPORT_STYLE } from "../../src/insight/report/style.ts";

type Counts = readonly [detractors: number, passives: number, promoters: number];
const counts = ([detractors, passives, promoters]: Counts) => ({ detractors, passives, promoters });

describe("the sentence of a report", () => {
  it.each<[Counts, Counts | null, string]>([
    [[6, 13, 32], null, "NPS 51, between 29 and 67."],
    [[30, 60, 110], [40, 60, 100], "NPS 40, between 29 and 50; no evidence of a change in May."],
    [[80, 190, 330], [100, 200, 300], "NPS 42, between 36 and 47; a rise of 8.3 points in May."],
    [[100, 200, 300], [20, 60, 520], "NPS 33, between 27 and 39; a fall of 49.8 points in May."],
    [[6, 13, 32], [1, 2, 3], "NPS 51, between 29 and 67; too few answers to say whether it changed in May."],
    [[6, 13, 32], [0, 0, 0], "NPS 51, between 29 and 67; too few answers to say whether it changed in May."],
    [[1, 2, 3], [6, 13, 32], "NPS 33, between -27 and 71; 6 answers, too few to say."],
    [[0, 0, 1], null, "NPS 100, between -48 and 100; 1 answer, too few to say."],
    [[0, 0, 0], [6, 13, 32], "No answers: there is no score."],
  ])("of %j against %j is %s", (after, before, sentence) => {
    const change = before === null ? null : { before: counts(before), after: counts(after), words: "in May" };
    expect(headline({ counts: counts(after), change })).toBe(sentence);
  });

  it("writes numbers as people read them", () => {
    const texts = [
      scoreText(-0.4),
      scoreText(-12.5),
      scoreText(12.5),
      pointsText(29.2949),
      pointsText(-0.04),
      pointsText(50),
    ];
    expect(texts).toEqual(["0", "-13", "13", "29.3", "0", "50"]);
    expect([signedText(8.29), signedText(-3), formatCount(4872), cutText("ab😀cd", 3)]).toEqual([
      "+8.3",
      "-3.0",
      "4,872",
      "ab😀… (2 more characters)",
    ]);
  });
});

describe("a chart", () => {
  it.each<[number[], number, number[]]>([
    [[-26.7, 71.2], 6, [-40, -20, 0, 20, 40, 60, 80]],
    [[51, 52], 6, [50, 55]],
    [[-100, 100], 6, [-100, -50, 0, 50, 100]],
    [[40], 6, [40, 45]],
  ])("of %j has at most %i steps between round ticks: %j", (values, most, ticks) => {
    const scale = linearScale(values, { from: 100, to: 0, steps: [5, 10, 20, 25, 50], most });
    expect([scale.ticks, scale.place(ticks[0] ?? 0), scale.place(ticks.at(-1) ?? 0)]).toEqual([ticks, 100, 0]);
  });

  it("leaves a gap where nobody answered, and hollows where few did", () => {
    const periods = (
      [
        [5, 5, 20],
        [0, 0, 0],
        [1, 0, 2],
        [4, 4, 30],
      ] as const
    ).map((each, index) => ({
      label: `2026-0${index + 1}`,
      counts: counts(each),
      isRunning: index === 3,
      isCut: index === 0,
    }));
    const { text } = drawPeriodScores(periods, { id: "c", title: "T", description: "D" });
    const marks = [...text.matchAll(/class="(point|few|band|whisker)"/g)].map(([, mark]) => mark);
    expect([marks, text.match(/(?:Jan|Feb|Mar|Apr)\*?/g)]).toEqual([
      ["whisker", "band", "point", "few", "point"],
      ["Jan*", "Feb", "Mar", "Apr*"],
    ]);
  });
});

describe("the colours of a report", () => {
  const [light = {}, dark = {}] = REPORT_STYLE.split("@media screen").map((style) => {
    const blocks = [...style.matchAll(/:root\{([^}]*)\}/g)].map(([, body = ""]) => body);
    return Object.fromEntries(blocks.flatMap((body) => body.split(";").map((entry) => entry.split(":"))));
  }) as Record<string, string>[];

  it.each([
    ["light", light],
    ["dark", dark],
  ])("can be read in the %s: text 4.5 to 1, drawing 3 to 1", (_, colours) => {
    const paper = colours["--paper"] ?? "";
    const texts = ["ink", "soft", "score", "detractor-ink", "passive-ink", "promoter-ink"];
    const drawn = ["detractor", "passive", "promoter", "score", "axis", "mark"];
    const low = (names: readonly string[], least: number): string[] =>
      names.filter((name) => contrast(colours[`--${name}`] ?? "", paper) < least);
    expect([low(texts, 4.5), low(drawn, 3)]).toEqual([[], []]);
  });
});

function contrast(one: string, other: string): number {
  const [dark = 0, light = 0] = [one, other].map(luminance).toSorted((a, b) => a - b);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const digits =
    colour.length === 4 ? Array.from(colour.slice(1), (digit) => digit + digit) : (colour.match(/\w\w/g) ?? []);
  const [red = 0, green = 0, blue = 0] = digits.map((pair) => {
    const share = Number.parseInt(pair, 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

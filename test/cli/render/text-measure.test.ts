import { describe, expect, it } from "vitest";
import { drawGrid } from "../../../src/cli/render/grid.ts";
import { createTextMeasure } from "../../../src/cli/render/text-measure.ts";

const measure = createTextMeasure();

describe("the width of text on a terminal", () => {
  it.each([
    ["", 0],
    ["plain", 5],
    ["é", 1],
    ["e\u0301", 1],
    ["日本語", 6],
    ["ｈａｌｆ", 8],
    ["ｶﾅ", 2],
    ["한국", 4],
    ["\u1112\u1161\u11ab", 2],
    ["👍", 2],
    ["👍🏽", 2],
    ["👩‍👩‍👧", 2],
    ["🇩🇪", 2],
    ["❤️", 2],
    ["שלום", 4],
    ["שָׁלוֹם", 4],
    ["नमस्ते", 3],
    ["สวัสดี", 4],
    ["a\u200bb", 2],
  ])("of %j is %i", (text, width) => {
    expect(measure.width(text)).toBe(width);
  });
});

describe("cutting", () => {
  it.each([
    ["exactly", 7, "exactly"],
    ["too long", 4, "too…"],
    ["日本語", 4, "日…"],
    ["日本語", 5, "日本…"],
    ["ae\u0301o\u0308x", 3, "ae\u0301…"],
    ["a👩‍👩‍👧b", 3, "a…"],
    ["abc", 1, "…"],
  ])("%j to %i cells gives %j", (text, max, expected) => {
    expect(measure.cut(text, max)).toBe(expected);
  });
});

describe("wrapping", () => {
  it.each([
    ["one two three", 7, ["one two", "three"]],
    ["supercalifragilistic", 8, ["supercal", "ifragili", "stic"]],
    ["a supercalifragilistic b", 8, ["a", "supercal", "ifragili", "stic b"]],
    ["とても良かったです", 5, ["とて", "も良", "かっ", "たで", "す"]],
    ["fits", 4, ["fits"]],
    ["", 4, [""]],
    ["日本", 1, ["日", "本"]],
  ])("%j to %i cells gives %j", (text, max, lines) => {
    expect(measure.wrap(text, max)).toEqual(lines);
  });

  it("leaves a long word whole where it is asked to", () => {
    expect(measure.wrap("see https://example.com/a/b now", 10, false)).toEqual([
      "see",
      "https://example.com/a/b",
      "now",
    ]);
  });
});

it("when the locale knows ASCII alone, then what was cut is marked in ASCII", () => {
  expect(["too long", "no"].map((text) => createTextMeasure(false).cut(text, 6))).toEqual(["too...", "no"]);
});

describe("fitting", () => {
  it.each([
    ["ab", 4, { text: "ab", width: 2 }],
    ["日本語", 5, { text: "日本…", width: 5 }],
    ["שלום", 5, { text: "\u2068שלום\u2069", width: 4 }],
  ])("%j into %i cells", (text, max, expected) => {
    expect(measure.fit(text, max)).toEqual(expected);
  });
});

describe("a grid", () => {
  it("keeps columns in line for texts of any width", () => {
    const texts = ["ab", "日本", "👩‍👩‍👧", "🫠🫠", "❤️x", "שלום", "e\u0301o\u0308", "\ue000", ""];
    const columns = [
      { width: 5, align: "left" },
      { width: 4, align: "right" },
      { width: 1, align: "left" },
    ] as const;
    const rows = texts.map((text) => [measure.fit(text, 5), measure.fit(text, 4), measure.fit("|", 1)]);
    const lines = drawGrid(columns, rows).split("\n");
    expect(lines.pop()).toBe("");
    expect(lines.map((line) => measure.width(line.slice(0, line.indexOf("|"))))).toEqual(texts.map(() => 13));
    expect(lines.map((line) => line.replace(/ +/g, " "))).toEqual(
      rows.map(([left, right]) => `${left?.text} ${right?.text} |`.replace(/ +/g, " ")),
    );
  });

  it("draws as many rows as it is given", () => {
    const rows = Array.from({ length: 120 }, (_, index) => [measure.fit(`${index}`, 3)]);
    const expected = rows.map((_, index) => String(index).padStart(3));
    expect(drawGrid([{ width: 3, align: "right" }], rows)).toBe(`${expected.join("\n")}\n`);
    expect(drawGrid([{ width: 3, align: "right" }], [])).toBe("");
  });
});

import { describe, expect, it } from "vitest";
import { isWorse, parseLine } from "./against.js";

describe("comparison of benchmarks", () => {
  it.each([
    [
      "people list / empty program                        3.44     <= 3.8 ok",
      { label: "people list / empty program", figure: 3.44, limit: "<= 3.8" },
    ],
    [
      "posts a second (1,234 rows)                         120     >= 100 FAIL",
      { label: "posts a second", figure: 120, limit: ">= 100" },
    ],
    [
      "package, MB                                        2.94            ok",
      { label: "package, MB", figure: 2.94, limit: "" },
    ],
  ])("reads %j", (text, line) => {
    expect(parseLine(text)).toEqual([line]);
  });

  it("skips lines that are no figures", () => {
    expect(parseLine("benchmark      measured   limit")).toEqual([]);
  });

  it.each([
    ["slower in two turns", { before: [1, 1, 1], now: [1.2, 1, 1.2], limit: "<= 2" }, true],
    ["slower in one turn", { before: [1, 1, 1], now: [1.2, 1, 1], limit: "<= 2" }, false],
    ["a tenth slower", { before: [1, 1, 1], now: [1.1, 1.1, 1.1], limit: "<= 2" }, false],
    ["fewer a second", { before: [100, 100, 100], now: [80, 80, 80], limit: ">= 50" }, true],
    ["without a limit", { before: [1, 1, 1], now: [9, 9, 9], limit: "" }, false],
    ["new", { before: [], now: [9, 9, 9], limit: "<= 2" }, false],
  ])("%s", (_, line, worse) => {
    expect(isWorse(line)).toBe(worse);
  });
});

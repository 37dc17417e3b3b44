import { describe, expect, it } from "vitest";
import { toSafeCell, toSafeLines, toSafeText } from "../../../src/cli/render/safe-text.ts";

describe("text that a service sends to a terminal", () => {
  it.each([
    ["\u001b[31mred\u001b[0m", "\\u001b[31mred\\u001b[0m"],
    ["\u001b]0;title\u0007", "\\u001b]0;title\\u0007"],
    ["\u009b2J", "\\u009b2J"],
    ["a\rb\tc\nd", "a\\rb\\tc\\nd"],
    ["evil\u202egnp.exe", "evil\\u202egnp.exe"],
    ["\u2066x\u2069", "\\u2066x\\u2069"],
    ["👩‍👧 שלום 日本", "👩‍👧 שלום 日本"],
  ])("%j is written as %j", (text, expected) => {
    expect(toSafeText(text)).toBe(expected);
  });

  it("keeps the lines of longer text", () => {
    expect(toSafeLines("a\tb\r\n\u001bc\n")).toBe("a\tb\r\n\\u001bc\n");
  });

  it("keeps no CR that would write over its line", () => {
    expect(toSafeLines("safe\revil\r\r\n")).toBe("safe\\revil\\r\r\n");
  });

  it("puts prose on one line", () => {
    expect(toSafeCell("  good,\n\n really \u0007 good ")).toBe("good, really \\u0007 good");
  });
});

import { stripVTControlCharacters } from "node:util";
import { expect, it } from "vitest";
import { paintJson } from "../../../src/cli/render/human.ts";

it("when JSON is painted, then names, texts and values differ in colour and every character stays", () => {
  const text = '{\n  "a": "b: \\"1\\"",\n  "c": [1.0, true, null]\n}';
  const painted = paintJson(text, true);
  expect(stripVTControlCharacters(painted)).toBe(text);
  const starts = painted.split("\u001B[").flatMap((part) => /^3[0-8](?=m)/.exec(part) ?? []);
  expect(starts).toEqual(["34", "32", "34", "36", "36", "36"]);
  expect(paintJson(text, false)).toBe(text);
});

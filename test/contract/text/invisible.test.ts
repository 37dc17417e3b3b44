import { expect, it } from "vitest";
import { quoteText } from "../../../src/contract/text/invisible.ts";

it.each([
  ['a "b"\u200B', '"a \\"b\\"U+200B"'],
  ["x".repeat(100), `"${"x".repeat(100)}"`],
  ["x".repeat(5000), `"${"x".repeat(100)}…"`],
  ["😀".repeat(100), `"${"😀".repeat(100)}"`],
  ["😀".repeat(101), `"${"😀".repeat(100)}…"`],
])("when %j is quoted, then people can see it, and no more than its beginning", (text, shown) => {
  expect(quoteText(text)).toBe(shown);
});

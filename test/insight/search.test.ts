import { expect, it } from "vitest";
import { createTextSearch } from "../../src/insight/search.ts";

it.each([
  ["refund|invoice", "No REFUND, two invoices", ["REFUND", "invoice"]],
  ["cafe", "Le Café, CAFE\u0301!", ["Café", "CAFE\u0301"]],
  ["É", "été", ["é", "é"]],
  ["ÜBER", "über Uber", ["über", "Uber"]],
  ["최고", "최고예요 최고", ["최고", "최고"]],
  ["が", "かが", ["が"]],
  ["^$|x*", "axxb", ["xx"]],
  [String.raw`\bsch\p{L}+`, "Schön geSCHrieben", ["Schön"]],
  ["nothing", "something", []],
])("when %j is searched in %j, then it finds %j", (pattern, text, found) => {
  const search = createTextSearch(pattern);
  const spans = search.spans(text).map(({ start, end }) => text.slice(start, end));
  expect([spans, spans.length > 0 ? search.matches(text) : null]).toEqual([found, spans.length > 0 ? true : null]);
});

import { expect, test } from "vitest";
import { resultsCsv } from "../../../../src/bulk/import/journal/results.ts";
import type { RecordedOutcome } from "../../../../src/bulk/import/journal/outcome.ts";

test("when results hold what a spreadsheet runs as a formula, then it is guarded, and phone numbers are left alone", async () => {
  const texts = [
    "=x@example.com",
    "-y@example.com",
    "@z",
    "+14155550101",
    "+cmd|' /C calc'!A0",
    "'=1",
    "ann@example.com",
  ];
  const outcomes: RecordedOutcome[] = texts.map((text, index) => ({
    line: index + 2,
    identifier: text,
    outcome: "failed",
    personId: text,
    surveyScheduledAt: null,
    error: text,
  }));
  const recorded = {
    of: async () => null,
    inOrder: async function* () {
      yield outcomes;
    },
    close: async () => {},
  };
  let text = "";
  for await (const piece of resultsCsv(recorded, String)) text += piece;
  expect(text.trim().split("\n").slice(1)).toEqual([
    "2,'=x@example.com,failed,'=x@example.com,,'=x@example.com,,",
    "3,'-y@example.com,failed,'-y@example.com,,'-y@example.com,,",
    "4,'@z,failed,'@z,,'@z,,",
    "5,+14155550101,failed,'+14155550101,,'+14155550101,,",
    "6,'+cmd|' /C calc'!A0,failed,'+cmd|' /C calc'!A0,,'+cmd|' /C calc'!A0,,",
    "7,''=1,failed,''=1,,''=1,,",
    "8,ann@example.com,failed,ann@example.com,,ann@example.com,,",
  ]);
});

import { describe, expect, it, test } from "vitest";
import { createClaimCheck, readClaims, type SummaryClaim } from "../../src/insight/claims.ts";
import { growthOf, LINEAR_MAX } from "../helpers/growth.ts";

const quotation = (text: string, ids: string[] = [], line = 1): SummaryClaim => ({
  kind: "quotation",
  line,
  text,
  ids,
});
const id = (which: string, line = 1): SummaryClaim => ({ kind: "id", line, id: which });

const literally = (literal: string, ...claims: SummaryClaim[]): SummaryClaim[] =>
  claims.map((claim) => ({ ...claim, literal }));

describe("claims of a summary", () => {
  it.each<[string, SummaryClaim[]]>([
    ['They say "it is slow" often.', [quotation("it is slow")]],
    ['"it is slow" [12]', [quotation("it is slow", ["12"]), id("12")]],
    ["“it is slow,” ([12, 13]).", [quotation("it is slow,", ["12", "13"]), id("12"), id("13")]],
    ["„zu langsam“ und « trop lent »", [quotation("zu langsam"), quotation(" trop lent ")]],
    ['"two\nlines" and [a1]', [quotation("two\nlines"), id("a1", 2)]],
    ['a 5" screen, "good" as is', [quotation("good")]],
    ['"one is lost\n\n"found"', [quotation("one is lost"), quotation("found", [], 3)]],
    ['a 5" screen is" "good", x"y"', [quotation("good"), quotation("y")]],
    ['"he said "no" to "me"" [4]', [quotation('he said "no" to "me"', ["4"]), id("4")]],
    ["»so« und «ainsi»", [quotation("so"), quotation("ainsi")]],
    ["“one\n\n“two”", [quotation("one"), quotation("two", [], 3)]],
    ["> it is slow [12]", literally("it is slow [12]", quotation("it is slow", ["12"]), id("12"))],
    ['> "it is slow" — [#12]', literally('"it is slow" — [#12]', quotation("it is slow", ["12"]), id("12"))],
    ['- > he said "no" twice', [quotation('he said "no" twice')]],
    ["> one\n>\n> two", [quotation("one"), quotation("two", [], 3)]],
    ["> mail [email-1]", [quotation("mail [email-1]")]],
    [
      '"mail [email-1]" [9]',
      [quotation("mail [email-1]"), id("9")].map((claim) =>
        claim.kind === "quotation" ? { ...claim, ids: ["9"] } : claim,
      ),
    ],
    ["[ ] [x] [sic] [^1] [a1](http://x) [name-2] see [r-7]", [id("a1"), id("r-7")]],
    ["[98765432]: it is slow", [id("98765432")]],
    ["see [12]: https://example.com\n[13]: https://example.com\n   [14]: <./notes.md>", [id("12")]],
    ["[12, 13](x) [12, no] [12 13]", [id("12"), id("13")]],
    ['"it is slow" [12]: often', [quotation("it is slow", ["12"]), id("12")]],
    ["\n12'345'678 responses", [{ kind: "count", line: 2, count: 12_345_678, of: "responses" }]],
    [
      "1,234 responses: **32** promoters, 1 passive and 6 Detractors; 51 answers",
      [
        { kind: "count", line: 1, count: 1234, of: "responses" },
        { kind: "count", line: 1, count: 32, of: "promoters" },
        { kind: "count", line: 1, count: 1, of: "passives" },
        { kind: "count", line: 1, count: 6, of: "detractors" },
        { kind: "count", line: 1, count: 51, of: "responses" },
      ],
    ],
    ['"12 detractors" at 3.5 responses a day', [quotation("12 detractors")]],
    ["12 % of promoters, 12 more responses, promoters 12, 3 weeks of answers, 2 of the responses", []],
    [
      "4 872 new responses, 12 deeply unhappy detractors, 1.204 written **answers**",
      [
        { kind: "count", line: 1, count: 4872, of: "responses" },
        { kind: "count", line: 1, count: 12, of: "detractors" },
        { kind: "count", line: 1, count: 1204, of: "responses" },
      ],
    ],
    [
      "63 % promoters, 24.5% of all responses are passives\n| Detractors | 6 | **12 %** |\nPromoters made up 63 percent",
      [
        { kind: "percentage", line: 1, value: 63, decimals: 0, of: "promoters" },
        { kind: "percentage", line: 1, value: 24.5, decimals: 1, of: "passives" },
        { kind: "percentage", line: 2, value: 12, decimals: 0, of: "detractors" },
        { kind: "percentage", line: 3, value: 63, decimals: 0, of: "promoters" },
      ],
    ],
    ["detractors: 12 % mention prices, detractors (0-6), promoters (9–10), 63 % of promoters", []],
    [
      "NPS 51 (29 … 67)\nThe Net Promoter Score is **−12.5**\n| NPS | +40 |\nthe NPS rose to 41",
      [
        { kind: "score", line: 1, value: 51, decimals: 0 },
        { kind: "score", line: 2, value: -12.5, decimals: 1 },
        { kind: "score", line: 3, value: 40, decimals: 0 },
        { kind: "score", line: 4, value: 41, decimals: 0 },
      ],
    ],
    ["NPS 2026-05, NPS 30 days, NPS rose by 5, NPS from 40, NPS 29–67, NPS between 29 and 67", []],
  ])("%j", (summary, claims) => {
    expect(readClaims(summary)).toEqual(claims);
  });
});

test("when claims are checked, then each that does not hold is named with its line", () => {
  const summary = [
    "# March: 3 responses, 2 promoters",
    '"it is slow," they say, and "It is Slow" [1]',
    '"great" [1] and "great" [2], "never said"',
    "> mail [email-7] or “call”… — [2]",
    "Nobody wrote [99].",
    "1 detractor, 1 passive, 3 answers",
  ].join("\r\n");
  const check = createClaimCheck(readClaims(summary));
  check.add({ id: "1", category: "detractor", texts: ["Well,  it is\nslow"] });
  check.add({
    id: "2",
    category: "promoter",
    texts: ['mail a@b.example or "call"...', 'mail [email-1] or "call"... great'],
  });
  check.add({ id: "3", category: "promoter", texts: [] });
  expect([check.broken().map(({ claim, why }) => [claim.line, claim.kind, why]), check.counts]).toEqual([
    [
      [2, "quotation", "is in no comment"],
      [3, "quotation", "is not in [1]"],
      [3, "quotation", "is in no comment"],
      [5, "id", "is the id of no response"],
      [6, "count", "should be 0"],
    ],
    { responses: 3, promoters: 2, passives: 0, detractors: 1 },
  ]);
});

test("when a comment itself ends with brackets, then a line that quotes it names no answer", () => {
  const check = createClaimCheck(readClaims("> see ticket [4711]\n> see ticket [4712]"));
  check.add({ id: "1", category: null, texts: ["Please see ticket [4711]"] });
  expect(check.broken().map(({ claim, why }) => [claim.line, why])).toEqual([
    [2, "is not in [4712]"],
    [2, "is the id of no response"],
  ]);
});

/** The text as often as makes about so many characters. */
const times = (text: string) => (size: number) => text.repeat(Math.ceil(size / text.length));

describe("when a summary is long and hostile", () => {
  it.each<[string, (size: number) => string]>([
    ["ids without an end", (size) => `[${times("1,")(size)}`],
    ["one id without an end", (size) => `[${times("1")(size)}`],
    ["ids with a word at the end", (size) => `[${times("11,")(size)}x]`],
    ["ids behind a quotation", (size) => times(`"a" [${"11,".repeat(40)}x] `)(size)],
    ["a quote line that ends with ids", (size) => `> [${times("1,")(size)}`],
    ["a quote line of spaces", (size) => `> a${times(" ")(size)}[x`],
    ["a quote line of full stops", (size) => `> a [1]${times(".")(size)}x`],
    ["marks of quote lines", (size) => `${times("> ")(size)}\u2028`],
    ["quotations in one paragraph", times('"a" ')],
    ["inches in one paragraph", times('5" ')],
    ["quotations that never end", times("“a\n\n")],
    ["numbers", (size) => `1${times("'111")(size)}`],
    ["counts", times("12 promoters\n")],
    ["numbers with spaces", times("111 ")],
    ["numbers with commas", times("1,")],
    ["shares", times("12 % promoters\n")],
    ["a kind and spaces", (size) => `promoters${times(" ")(size)}x`],
    ["scores", times("NPS 1,1,1 ")],
    ["stars", (size) => `1${times("*")(size)}`],
  ])("then reading %s takes time in proportion to it", (_, make) => {
    expect(growthOf((size) => void readClaims(make(size)))).toBeLessThan(LINEAR_MAX);
  });
});

test("when a summary claims shares and a score, then they are those of the responses, rounded as they are written", () => {
  const check = createClaimCheck(
    readClaims("NPS 0, NPS 0.0, NPS 1\n33 % promoters, 33.3 % passives, detractors: 34 %\nNPS -0"),
  );
  for (const category of ["promoter", "passive", "detractor"] as const)
    check.add({ id: category, category, texts: [] });
  expect(check.broken().map(({ claim, why }) => [claim.line, claim.kind, why])).toEqual([
    [1, "score", "should be 0"],
    [2, "percentage", "should be 33 %"],
  ]);
  const none = createClaimCheck(readClaims("NPS 51"));
  expect(none.broken().map(({ why }) => why)).toEqual(["has no responses to be true of"]);
});

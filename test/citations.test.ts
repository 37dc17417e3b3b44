import { readFileSync } from "node:fs";
import { describe, expect, it, test } from "vitest";
import { commentsOf, readSources, type Sources } from "./helpers/source-code.ts";

const REFERENCE = readFileSync(new URL("../src/contract/README.md", import.meta.url), "utf8");
const NUMBER = /\d{1,2}(?:\.\d{1,2})?/g;
/** `section 4.2`, `sections 4.1, 4.8 and 4.9`, `(4.2)`, `(4.3, 4.4)`, `(4.8 to 4.11)`. */
const CITATION = /\bsections? (\d[\d., ]*(?:(?:and|to) [\d.]*\d)?)|\((\d\.\d{1,2}(?:(?:,| to| and) \d\.\d{1,2})*)\)/g;

const headings = (reference: string): Set<string> =>
  new Set([...reference.matchAll(/^#{2,3} (\d+(?:\.\d+)?)\.? /gm)].map(([, number = ""]) => number));

function breaches(sources: Sources, reference: string): string[] {
  const known = headings(reference);
  return [...sources].flatMap(([file, text]) =>
    commentsOf(text).flatMap((comment) => [
      ...(/\bdesign(?::|\/|\.md)/.test(comment) ? [`${file} cites the design documents`] : []),
      ...citedIn(comment)
        .filter((number) => !known.has(number))
        .map((number) => `${file} cites section ${number}, which is not there`),
    ]),
  );
}

function citedIn(comment: string): string[] {
  return [...comment.matchAll(CITATION)].flatMap(
    ([, inWords, inBrackets]) => (inWords ?? inBrackets ?? "").match(NUMBER) ?? [],
  );
}

test("when the source is read, then every section that a comment cites is in the reference", () => {
  expect(breaches(readSources("src"), REFERENCE)).toEqual([]);
});

describe("the rules themselves", () => {
  it.each<[string, string, string[]]>([
    ["a section that is there", "/** Section 4: see section 4.1 and (4.1). */", []],
    ["a section that is not there", "// As section 4.2 has it.", ["a.ts cites section 4.2, which is not there"]],
    ["one of several", "/** (4.1, 4.3) */", ["a.ts cites section 4.3, which is not there"]],
    ["the end of a range", "/** sections 4.1 to 4.9 */", ["a.ts cites section 4.9, which is not there"]],
    ["the design documents", '/** design: "Settled details" */', ["a.ts cites the design documents"]],
    ["a number that is no section", "const a = 1; // (0.5 + a) of 10.0.0.0/8, version 4.2", []],
    ["code that is no comment", 'const a = "section 9.9";', []],
  ])("when it is %s", (_, text, complaints) => {
    expect(breaches(new Map([["a.ts", text]]), "## 4. Endpoints\n\n### 4.1 List people\n")).toEqual(complaints);
  });
});

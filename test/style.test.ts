/** Source conventions that no linter checks; `.oxlintrc.json` has the others. */
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import { parseSource, readSources, type Sources, type SyntaxNode } from "./helpers/source-code.ts";

const FILES_MAX = 14;
const COMMENT_COLUMNS_MAX = 120;
const VAGUE = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\/|\.ts$)/;

function breaches(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => [
    ...(VAGUE.test(file) ? [`${file} has a name that says nothing`] : []),
    ...(/(?:eslint|oxlint)-disable/.test(text) ? [`${file} silences a check`] : []),
    ...variables(file, text),
    ...longComments(file, text),
  ]);
}

/** The formatter handles code, and tables of data can be wide. */
function longComments(file: string, text: string): string[] {
  return text.split("\n").flatMap((line, at) => {
    const isLong = /^\s*(?:\/\*|\*|\/\/)/.test(line) && line.length > COMMENT_COLUMNS_MAX;
    return isLong ? [`${file}:${at + 1} has a comment of more than ${COMMENT_COLUMNS_MAX} characters in a line`] : [];
  });
}

function crowded(sources: Sources): string[] {
  const counts = new Map<string, number>();
  for (const file of sources.keys()) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > FILES_MAX)
    .map(([folder, count]) => `${folder} has ${count} files, and ${FILES_MAX} is the most`);
}

function variables(file: string, text: string): string[] {
  return (parseSource(text).body as SyntaxNode[]).flatMap((node) => {
    const declaration = (node.type === "ExportNamedDeclaration" ? node.declaration : node) as SyntaxNode | null;
    const isVariable = declaration?.type === "VariableDeclaration" && declaration.kind !== "const";
    return isVariable ? [`${file} has a variable for the whole program`] : [];
  });
}

test("when the source is read, then it keeps to the habits", () => {
  expect(breaches(readSources("src"))).toEqual([]);
});

test("when the folders are counted, then none has more files than a reader takes in", () => {
  expect(crowded(readSources("src"))).toEqual([]);
});

it("when a folder has too many files, then it is named", () => {
  const files = Array.from({ length: FILES_MAX + 1 }, (_, index) => [`src/a/${index}.ts`, ""] as const);
  expect(crowded(new Map([...files, ["src/b/c.ts", ""]]))).toEqual(["src/a has 15 files, and 14 is the most"]);
});

describe("the habits themselves", () => {
  it.each([
    ["a vague name", "src/cli/utils.ts", "", "src/cli/utils.ts has a name that says nothing"],
    ["a silenced check", "src/a.ts", "// oxlint-disable\n", "src/a.ts silences a check"],
    [
      "a variable for the whole program",
      "src/a.ts",
      "export let a = 1;",
      "src/a.ts has a variable for the whole program",
    ],
    [
      "a long line of a comment",
      "src/a.ts",
      `// ${"a".repeat(118)}`,
      "src/a.ts:1 has a comment of more than 120 characters in a line",
    ],
  ])("when there is %s, then it is named", (_, file, text, complaint) => {
    expect(breaches(new Map([[file, text]]))).toEqual([complaint]);
  });
});

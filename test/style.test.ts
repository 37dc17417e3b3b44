/** Habits of the source that a reader relies on. */
import { describe, expect, it, test } from "vitest";
import { parseSource, readSources, walk, type Sources, type SyntaxNode } from "./helpers/source-code.ts";

const LINES_MAX = 400;
const VAGUE = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\/|\.ts$)/;

function breaches(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => [
    ...(text.split("\n").length > LINES_MAX + 1 ? [`${file} is longer than ${LINES_MAX} lines`] : []),
    ...(VAGUE.test(file) ? [`${file} has a name that says nothing`] : []),
    ...(/@ts-(?:ignore|expect-error|nocheck)|(?:eslint|oxlint)-disable/.test(text) ? [`${file} silences a check`] : []),
    ...topLevel(text).flatMap((node) => habits(file, node)),
    ...exits(file, text),
  ]);
}

function topLevel(text: string): SyntaxNode[] {
  return parseSource(text).body as SyntaxNode[];
}

function habits(file: string, node: SyntaxNode): string[] {
  const declaration = (node.type === "ExportNamedDeclaration" ? node.declaration : node) as SyntaxNode | null;
  if (node.type === "ExportDefaultDeclaration") return [`${file} has a default export`];
  if (declaration?.type === "VariableDeclaration" && declaration.kind !== "const")
    return [`${file} has a variable for the whole program`];
  return [];
}

/** `process.exit` cuts off what is still on its way through a pipe. */
function exits(file: string, text: string): string[] {
  const found: string[] = [];
  walk(parseSource(text), ({ type, callee }) => {
    const { object, property } = (callee ?? {}) as { object?: SyntaxNode; property?: SyntaxNode };
    if (type === "CallExpression" && object?.name === "process" && property?.name === "exit")
      found.push(`${file} calls process.exit`);
  });
  return found;
}

test("when the source is read, then it keeps to the habits", () => {
  expect(breaches(readSources("src"))).toEqual([]);
});

describe("the habits themselves", () => {
  it.each([
    ["a long file", "src/a.ts", "\n".repeat(401), "src/a.ts is longer than 400 lines"],
    ["a vague name", "src/cli/utils.ts", "", "src/cli/utils.ts has a name that says nothing"],
    ["a silenced check", "src/a.ts", "// @ts-ignore\n", "src/a.ts silences a check"],
    ["a default export", "src/a.ts", "export default 1;", "src/a.ts has a default export"],
    [
      "a variable for the whole program",
      "src/a.ts",
      "export let a = 1;",
      "src/a.ts has a variable for the whole program",
    ],
    ["an exit", "src/a.ts", "function a() { process.exit(1); }", "src/a.ts calls process.exit"],
  ])("when there is %s, then it is named", (_, file, text, complaint) => {
    expect(breaches(new Map([[file, text]]))).toEqual([complaint]);
  });
});

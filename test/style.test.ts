/** Habits of the source that a reader relies on. */
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import { isNode, parseSource, readSources, walk, type Sources, type SyntaxNode } from "./helpers/source-code.ts";

const LINES_MAX = 400;
const FILES_MAX = 14;
const COMMENT_COLUMNS_MAX = 120;
const VAGUE = /(?:^|\/)(?:utils?|helpers?|common|misc)(?:\/|\.ts$)/;

function breaches(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => [
    ...(text.split("\n").length > LINES_MAX + 1 ? [`${file} is longer than ${LINES_MAX} lines`] : []),
    ...(VAGUE.test(file) ? [`${file} has a name that says nothing`] : []),
    ...(/@ts-(?:ignore|expect-error|nocheck)|(?:eslint|oxlint)-disable/.test(text) ? [`${file} silences a check`] : []),
    ...topLevel(text).flatMap((node) => habits(file, node)),
    ...exits(file, text),
    ...longComments(file, text),
  ]);
}

/** Lines of code are the formatter's care, and tables of data may be wide. */
function longComments(file: string, text: string): string[] {
  return text.split("\n").flatMap((line, at) => {
    const isLong = /^\s*(?:\/\*|\*|\/\/)/.test(line) && line.length > COMMENT_COLUMNS_MAX;
    return isLong ? [`${file}:${at + 1} has a comment of more than ${COMMENT_COLUMNS_MAX} characters in a line`] : [];
  });
}

/** Folders with more files than a reader takes in at once. */
function crowded(sources: Sources): string[] {
  const counts = new Map<string, number>();
  for (const file of sources.keys()) counts.set(path.dirname(file), (counts.get(path.dirname(file)) ?? 0) + 1);
  return [...counts]
    .filter(([, count]) => count > FILES_MAX)
    .map(([folder, count]) => `${folder} has ${count} files, and ${FILES_MAX} is the most`);
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

const FUNCTION_LINES_MAX = 60;

/** Functions, methods and closures with more lines than a reader takes in at once, as `file name`. */
function longFunctions(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) => {
    const found: string[] = [];
    walk(parseSource(text), (node) => {
      const { type, start, end, body, id } = node as SyntaxNode & { readonly start: number; readonly end: number };
      if (!/Function/.test(type) || !isNode(body)) return;
      if (text.slice(start, end).split("\n").length <= FUNCTION_LINES_MAX) return;
      found.push(`${file} ${isNode(id) ? String(id["name"]) : "(without a name)"}`);
    });
    return found;
  });
}

test("when the functions are measured, then none is longer than a reader takes in", () => {
  expect(longFunctions(readSources("src"))).toEqual([]);
});

it("when a function is long, then it is named", () => {
  const body = `{\n${"  a();\n".repeat(59)}}\n`;
  const sources = new Map([["src/a.ts", `function b() ${body}const c = () => ${body}function d() {}`]]);
  expect(longFunctions(sources)).toEqual(["src/a.ts b", "src/a.ts (without a name)"]);
});

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
    [
      "a long line of a comment",
      "src/a.ts",
      `// ${"a".repeat(118)}`,
      "src/a.ts:1 has a comment of more than 120 characters in a line",
    ],
    ["an exit", "src/a.ts", "function a() { process.exit(1); }", "src/a.ts calls process.exit"],
  ])("when there is %s, then it is named", (_, file, text, complaint) => {
    expect(breaches(new Map([[file, text]]))).toEqual([complaint]);
  });
});

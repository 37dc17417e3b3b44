/** Habits of the source that a reader relies on. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, it, test } from "vitest";
import {
  commentsOf,
  importsOf,
  isNode,
  parseSource,
  readSources,
  walk,
  type Sources,
  type SyntaxNode,
} from "./helpers/source-code.ts";

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

/** Words of a dialect that this project once had; the plain ones are in the comment of each line. */
const DIALECT: readonly RegExp[] = [
  /\bwhole or not at all\b/i, // atomically
  /\bstands? (?:already )?on line\b/i, // is already on line
  /\bstands in the file already\b/i, // duplicate
  /\bnames nobody\b/i, // does not exist
  /\b(?:needs?|worth) a word\b/i, // must be confirmed
  /\bformer (?:run|page|export|import)\b/i, // previous run
  /\bone argument too many\b/i, // too many arguments
  /\bis no time to\b/i, // is not a valid time
  /\b(?:is|are) no (?:certificate|URL|duration|number|directory)s?\b/, // is not a
  /\bis needed"/, // is required
  /\b(?:goes|go) before\b(?! the @)/i, // takes precedence over
  /\bcounts first\b/i, // takes precedence
  /\bshown only now\b/i, // shown only once
  /\binWords/, // asCliError
  /\bVerdict\b/, // Validation
  /\bPerformance\b/, // Invocation
  /\bharmfulTwice\b/, // repeatDoesHarm
  /\bmeantAt\b/, // previousIntentAt
  /\bunknownNeedsWord\b/, // neverRepeatUnknown
  /\bbusy-stretch\b/, // crowded-range
  /\bbeside\b/i, // next to
  /\bdecidingColumn\b/, // consentColumn
];

const root = path.join(import.meta.dirname, "..");

/** The source, the documents and the README, by their path from the root. */
function everyText(): Sources {
  const documents = readdirSync(path.join(root, "docs"), { recursive: true, encoding: "utf8" })
    .filter((name) => name.endsWith(".md"))
    .map((name) => path.join("docs", name));
  const more = [...documents, "README.md", "src/contract/README.md"];
  return new Map([...readSources("src"), ...more.map((file) => [file, textOf(file)] as const)]);
}

function textOf(file: string): string {
  return readFileSync(path.join(root, file), "utf8");
}

function dialect(texts: Sources): string[] {
  return [...texts].flatMap(([file, text]) =>
    text.split("\n").flatMap((line, at) =>
      DIALECT.map((banned) => banned.exec(line)?.[0])
        .filter((found) => found !== undefined)
        .map((found) => `${file}:${at + 1} says "${found}"`),
    ),
  );
}

/** One name, one meaning. Each noun's `index.ts` has its own `register`. */
function namesTwice(sources: Sources): string[] {
  const places = new Map<string, Set<string>>();
  for (const [file, text] of sources)
    for (const [, name = ""] of text.matchAll(
      /^export (?:declare |async |abstract )*(?:function\*?|const|class|interface|type|enum) +(\w+)/gm,
    ))
      if (name !== "register") places.set(name, (places.get(name) ?? new Set()).add(file));
  return [...places]
    .filter(([, files]) => files.size > 1)
    .map(([name, files]) => `${name} is declared in ${[...files].join(" and ")}`);
}

/**
 * Values that no other file imports. A module that is loaded as a whole is used by every file that has the name, and so
 * is any module by a file that loads some module by a computed path. A command's two halves are exported by habit.
 */
function unusedExports(sources: Sources, others: Sources): string[] {
  const all = new Map([...sources, ...others]);
  const imports = [...all].flatMap(([file, text]) => importsOf(file, text));
  const imported = new Set(imports.flatMap(({ to, names }) => (names ?? []).map((name) => `${to} ${name}`)));
  const whole = imports.filter(({ names }) => names === null);
  const words = new Map([...all].map(([file, text]) => [file, new Set(text.match(/\w+/g))]));
  const isUsed = (file: string, name: string): boolean => {
    if (imported.has(`${file} ${name}`)) return true;
    const users = whole.some(({ to }) => to === file)
      ? [...all.keys()]
      : whole.filter(({ to }) => to === "<computed>").map(({ from }) => from);
    return users.some((user) => user !== file && words.get(user)?.has(name) === true);
  };
  return [...sources].flatMap(([file, text]) =>
    [...text.matchAll(/^export (?:async |abstract )*(?:function\*?|const|class) +(\w+)/gm)]
      .map(([, name = ""]) => name)
      .filter((name) => !/^(?:run|register)/.test(name) && !isUsed(file, name))
      .map((name) => `${file} exports ${name}, which no other file uses`),
  );
}

describe("one English", () => {
  test("when source and documents are read, then none has a word of the dialect", () => {
    expect(dialect(everyText())).toEqual([]);
  });

  it.each([
    ["a message", '"Nora stands on line 3"', "stands on line"],
    ["a name", "export function inWords() {}", "inWords"],
    ["a comment", "// Read in the former run.", "former run"],
  ])("when %s has one, then it is found", (_, text, found) => {
    expect(dialect(new Map([["src/a.ts", text]]))).toEqual([`src/a.ts:1 says "${found}"`]);
  });
});

/** A comment whose subject is a clause in place of a thing. */
const CLAUSE = /^(?:\/\*\*?|\/\/) (?:What|Whether|How|Why|That|Where|Who|Whose|Nobody)\b/;
/** Words of the house; the field has others: queue, chunk, span, handler, listener, next to, before. */
const HOUSE_WORD =
  /\b(?:lanes?|pieces?|crowd(?:ed|s)?|stretch(?:es)?|happenings?|doors?|beside|ahead|faces?|(?<!by )hands?)\b/i;

function unplainComments(sources: Sources): string[] {
  return [...sources].flatMap(([file, text]) =>
    commentsOf(text)
      .filter((comment) => CLAUSE.test(comment) || HOUSE_WORD.test(comment))
      .map((comment) => `${file} says "${comment.slice(0, 60)}"`),
  );
}

describe("comments", () => {
  test("when they are read, then each has a thing for its subject and the field's words", () => {
    expect(unplainComments(readSources("src"))).toEqual([]);
  });

  it.each(["/** Whether it is there. */", "// What is left.", "/** Kept beside it. */", "/** In good hands. */"])(
    "when one is %s, then it is named",
    (comment) => {
      expect(unplainComments(new Map([["src/cli/a.ts", comment]]))).toEqual([`src/cli/a.ts says "${comment}"`]);
    },
  );
});

describe("one name, one meaning", () => {
  test("when the source is read, then no exported name is declared twice", () => {
    expect(namesTwice(readSources("src"))).toEqual([]);
  });

  it("when a name is declared twice, then both places are named", () => {
    const sources = new Map([
      ["src/a.ts", "export const one = 1;\nexport const two = 2;"],
      ["src/b.ts", "export interface two {}\nconst one = 3;"],
    ]);
    expect(namesTwice(sources)).toEqual(["two is declared in src/a.ts and src/b.ts"]);
  });
});

describe("what is exported", () => {
  test("when the source is read, then another file uses each exported value", () => {
    const builder = new Map([["bin/build.js", textOf("bin/build.js")]]);
    expect(unusedExports(readSources("src"), new Map([...readSources("test"), ...builder]))).toEqual([]);
  });

  it("when only its own file uses one, then it is named, even where another file has a word like it", () => {
    const sources = new Map([
      ["src/a.ts", "export const one = 1;\nexport const two = one;\nexport function runA() {}"],
      ["src/b.ts", 'import { two as one } from "./a.ts";'],
      ["src/c.ts", "export const three = 3;\nexport const four = 4;"],
      ["src/d.ts", 'const three = (await import("./c.ts")).three;'],
    ]);
    expect(unusedExports(sources, new Map())).toEqual([
      "src/a.ts exports one, which no other file uses",
      "src/c.ts exports four, which no other file uses",
    ]);
  });
});

import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { parseAst } from "rolldown/parseAst";

export type Sources = ReadonlyMap<string, string>;

export interface SyntaxNode {
  readonly type: string;
  readonly [property: string]: unknown;
}

export interface Import {
  readonly from: string;
  /** A path from the project's root, or the name of a package or `node:` module. */
  readonly to: string;
  /** Null for the whole module, as with `import()`. */
  readonly names: readonly string[] | null;
}

const root = path.join(import.meta.dirname, "../..");

export function readSources(folder: string): Sources {
  const names = readdirSync(path.join(root, folder), { recursive: true, encoding: "utf8" });
  const files = names.filter((name) => name.endsWith(".ts")).map((name) => path.join(folder, name));
  return new Map(files.toSorted().map((file) => [file, readFileSync(path.join(root, file), "utf8")]));
}

const parsed = new Map<string, SyntaxNode>();

/** Caches the result, because several tests read the same files. */
export function parseSource(text: string): SyntaxNode {
  const known = parsed.get(text) ?? (parseAst(text, { lang: "ts" }) as unknown as SyntaxNode);
  parsed.set(text, known);
  return known;
}

/** Visits `node` and its descendants. If `enter` returns false, the node's children are skipped. */
export function walk(node: SyntaxNode, enter: (node: SyntaxNode) => boolean | void): void {
  if (enter(node) === false) return;
  for (const child of Object.values(node)) {
    for (const item of Array.isArray(child) ? child : [child]) if (isNode(item)) walk(item, enter);
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** Each comment joined to one line. Ignores `//` and `/*` in strings. */
export function commentsOf(text: string): string[] {
  const found = text.matchAll(/"(?:\\.|[^"\\\n])*"|(\/\*[^]*?\*\/)|(?:^|[\s;,{}])(\/\/ .*)$/gm);
  const comments = [...found].flatMap(([, block, line]) => block ?? line ?? []);
  return comments.map((comment) => comment.replaceAll(/\n\s*\*?\s*/g, " ").trim());
}

/** All imports: static, `export … from`, type-only, dynamic and `import("…").Type`. */
export function importsOf(file: string, text: string): Import[] {
  const found: Import[] = [];
  const look = (node: SyntaxNode): void => {
    if (
      /^(?:Import|ExportNamed|ExportAll)Declaration$|^ImportExpression$|^TSImportType$/.test(node.type) &&
      isNode(node.source)
    ) {
      const target = typeof node.source.value === "string" ? node.source.value : "<computed>";
      const to = target.startsWith(".") ? path.join(path.dirname(file), target) : target;
      found.push({ from: file, to, names: namesOf(node) });
    }
  };
  const tree = parseSource(text);
  // Only `import()` can be nested, and few files use it.
  if (/\bimport\b\s*[^\w\s{*"']/.test(text)) walk(tree, look);
  else (tree.body as readonly SyntaxNode[]).forEach(look);
  return found;
}

function namesOf({ specifiers }: SyntaxNode): readonly string[] | null {
  const names = ((specifiers ?? [{}]) as readonly SyntaxNode[]).map(({ imported, local, type }) => {
    const named = type === "ExportSpecifier" ? local : imported;
    return isNode(named) && typeof named.name === "string" ? named.name : null;
  });
  return names.includes(null) ? null : (names as readonly string[]);
}

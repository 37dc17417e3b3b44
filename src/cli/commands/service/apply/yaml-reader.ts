/** Reads a YAML document by rules; what is wrong is told with file, line and column. */
import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { quoteText } from "../../../../contract/text/invisible.ts";
import type { Json, JsonObject } from "../../../../contract/json.ts";
import { suggest } from "../../../args/suggest.ts";
import { UsageError } from "../../../errors/usage-error.ts";

/** A value of the document and where it is. */
interface Spot {
  /** Such as `webhooks.0.url`; empty for the document. */
  readonly path: string;
  readonly node: Node | null;
  /** One sentence about this value: `survey.yaml:3:9: throttle …`. */
  fail(text: string, hint?: string): UsageError;
  inner(key: string | number, node: Node | null): Spot;
}

/** Turns a value into what it means. Throws UsageError. */
export type YamlRule = (spot: Spot) => Json;

export interface YamlFile {
  readonly value: Json;
  /** As `Spot.fail`, for a value by its path, or the nearest around it. */
  readonly fail: (path: readonly string[], text: string) => UsageError;
}

/** `name` is what errors call the file. Throws UsageError. */
export function readYaml(name: string, text: string, rule: YamlRule): YamlFile {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: false });
  const place = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${name}:${line}:${col}`;
  };
  const [error] = document.errors;
  if (error !== undefined) throw new UsageError(`${place(error.pos[0])}: ${error.message.split("\n")[0]}`);
  const nodes = new Map<string, Node | null>();
  const say = (path: string, node: Node | null, words: string): string =>
    `${place(node?.range?.[0] ?? 0)}: ${path === "" ? "" : `${path} `}${words}`;
  const createSpot = (path: string, given: Node | null): Spot => {
    const node = isAlias(given) ? (given.resolve(document) ?? null) : given;
    nodes.set(path, given);
    return {
      path,
      node,
      fail: (words, hint) => new UsageError(say(path, given, words), hint === undefined ? {} : { hint }),
      inner: (key, child) => createSpot(path === "" ? String(key) : `${path}.${key}`, child),
    };
  };
  const value = rule(createSpot("", document.contents));
  const fail = (path: readonly string[], words: string): UsageError => {
    const near = path.map((_, at) => path.slice(0, path.length - at).join(".")).find((each) => nodes.has(each)) ?? "";
    return new UsageError(say(path.join("."), nodes.get(near) ?? null, words));
  };
  return { value, fail };
}

/** A map with these keys, each of which may be absent, but for those in `required`. */
export function fields(rules: Readonly<Record<string, YamlRule>>, required: readonly string[] = []): YamlRule {
  return (spot) => {
    const given: JsonObject = {};
    for (const [key, at, node] of entriesOf(spot)) {
      const rule = Object.hasOwn(rules, key) ? rules[key] : undefined;
      if (rule === undefined) throw unknownKey(spot, key, at, Object.keys(rules));
      given[key] = rule(spot.inner(key, node));
    }
    const missing = required.find((key) => !Object.hasOwn(given, key));
    if (missing !== undefined) throw spot.fail(`has no ${missing}`);
    return given;
  };
}

function unknownKey(spot: Spot, key: string, at: Node, known: readonly string[]): UsageError {
  const nearest = suggest(key, known);
  const hint = nearest === null ? `the keys are ${known.join(", ")}` : `did you mean ${nearest}?`;
  return spot.inner(key, at).fail("is not a setting", hint);
}

/** A map of the customer's own keys to values of one rule. */
export function mapOf(rule: YamlRule): YamlRule {
  return (spot) => Object.fromEntries(entriesOf(spot).map(([key, , node]) => [key, rule(spot.inner(key, node))]));
}

/** A map of the customer's own keys to texts. */
export const texts: YamlRule = mapOf((spot) => scalarText(spot));

/** A map that is empty may be left empty. */
function entriesOf(spot: Spot): (readonly [string, Node, Node | null])[] {
  const { node } = spot;
  if (node === null || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) throw spot.fail("must be a map of keys and values");
  // The library compares each key with all others.
  const seen = new Set<string>();
  return node.items.map(({ key, value }) => {
    if (!isScalar(key)) throw spot.fail("has a key that is not a text");
    const name = String(key.value);
    if (seen.has(name)) throw spot.inner(name, key).fail("is there twice");
    seen.add(name);
    return [name, key, value as Node | null];
  });
}

export function list(rule: YamlRule): YamlRule {
  return (spot) => {
    if (!isSeq(spot.node)) throw spot.fail("must be a list", "[] is an empty one");
    return spot.node.items.map((node, index) => rule(spot.inner(index, node as Node)));
  };
}

/** A text as it was typed, also of a number or a switch. */
function scalarText(spot: Spot): string {
  const { node } = spot;
  if (!isScalar(node) || node.value === null) throw spot.fail("must be a text");
  return typeof node.value === "string" ? node.value : (node.source ?? "");
}

export const text: YamlRule = (spot) => {
  if (isScalar(spot.node) && typeof spot.node.value === "string") return spot.node.value;
  throw spot.fail("must be a text", "put it in quotes");
};

export const flag: YamlRule = (spot) => {
  if (isScalar(spot.node) && typeof spot.node.value === "boolean") return spot.node.value;
  throw spot.fail("must be true or false");
};

export function orNull(rule: YamlRule): YamlRule {
  return (spot) => (spot.node === null || (isScalar(spot.node) && spot.node.value === null) ? null : rule(spot));
}

/** `read` gives null for a value that is not `expected`. */
export function parsed(read: (text: string) => Json, expected: string): YamlRule {
  return (spot) => {
    const given = scalarText(spot);
    const value = read(given);
    if (value === null) throw spot.fail(`${quoteText(given)} is not ${expected}`);
    return value;
  };
}

export function oneOf(choices: readonly string[]): YamlRule {
  return parsed((given) => (choices.includes(given) ? given : null), `one of ${choices.join(", ")}`);
}

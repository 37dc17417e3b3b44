import { isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import { quoteText } from "../../../../contract/text/invisible.ts";
import type { Json, JsonObject } from "../../../../contract/json.ts";
import { suggest } from "../../../args/suggest.ts";
import { UsageError } from "../../../errors/usage-error.ts";

interface Spot {
  readonly path: string;
  readonly node: Node | null;
  /** Returns an error such as `survey.yaml:3:9: throttle …`. */
  fail(text: string, hint?: string): UsageError;
  inner(key: string | number, node: Node | null): Spot;
}

export type YamlRule = (spot: Spot) => Json;

export interface YamlFile {
  readonly value: Json;
  /** Like `Spot.fail`, but for the value at a path, or for the nearest value that contains it. */
  readonly fail: (path: readonly string[], text: string) => UsageError;
}

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

/** Accepts a map that has only these keys. Those in `required` must be present. */
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

export function mapOf(rule: YamlRule): YamlRule {
  return (spot) => Object.fromEntries(entriesOf(spot).map(([key, , node]) => [key, rule(spot.inner(key, node))]));
}

export const texts: YamlRule = mapOf((spot) => scalarText(spot));

function entriesOf(spot: Spot): (readonly [string, Node, Node | null])[] {
  const { node } = spot;
  if (node === null || (isScalar(node) && node.value === null)) return [];
  if (!isMap(node)) throw spot.fail("must be a map of keys and values");
  // The YAML library's own check for duplicate keys takes quadratic time.
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

/** Returns a scalar as typed, even if YAML would read it as a number or boolean. */
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

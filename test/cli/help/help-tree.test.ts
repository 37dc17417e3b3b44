import path from "node:path";
import { readFile } from "node:fs/promises";
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { beforeAll, expect, it } from "vitest";
import { runCli } from "../../helpers/run-cli.ts";

type Json = Record<string, unknown>;

let tree: Json;
let validate: ValidateFunction;
beforeAll(async () => {
  const schema = await readFile(path.join(import.meta.dirname, "../../../src/cli/help/help-tree.schema.json"), "utf8");
  validate = new Ajv2020({ allErrors: true, allowUnionTypes: true, strictTypes: false }).compile(
    JSON.parse(schema) as Json,
  );
  const { stdout } = await runCli({ args: ["help", "--json"] });
  tree = JSON.parse(stdout) as Json;
});

function spoiled(change: (copy: { commands: CommandNode[]; [key: string]: unknown }) => void): unknown {
  const copy = structuredClone(tree) as { commands: CommandNode[] };
  change(copy);
  return copy;
}

interface CommandNode {
  name: unknown;
  flags: Json[];
  arguments: Json[];
  commands: CommandNode[];
  exit_statuses: unknown[];
}

function firstVerb({ commands }: { commands: CommandNode[] }): CommandNode {
  const [verb] = commands[0]?.commands ?? [];
  if (verb === undefined) throw new Error("the first noun has no verbs");
  return verb;
}

it("when help is asked for as JSON, then it keeps to its schema", () => {
  validate(tree);
  expect(validate.errors).toBeNull();
});

it.each([
  ["an unknown key", spoilKey],
  ["a flag without a type", (copy: { commands: CommandNode[] }) => delete firstVerb(copy).flags[0]?.["type"]],
  [
    "a switch with a value",
    (copy: { commands: CommandNode[] }) =>
      Object.assign(firstVerb(copy).flags[0] ?? {}, { type: "boolean", value: "x" }),
  ],
  [
    "a type that is none",
    (copy: { commands: CommandNode[] }) => Object.assign(firstVerb(copy).flags[0] ?? {}, { type: "thing" }),
  ],
  ["a status that is none", (copy: { commands: CommandNode[] }) => firstVerb(copy).exit_statuses.push(256)],
  ["a command without a name", (copy: { commands: CommandNode[] }) => Object.assign(firstVerb(copy), { name: "" })],
])("when the tree had %s, then the schema would say so", (_what, change) => {
  expect(validate(spoiled(change))).toBe(false);
});

function spoilKey(copy: { [key: string]: unknown }): void {
  copy["more"] = true;
}

it("when a value is one of a few, then the tree tells them, for flags and operands", () => {
  const { commands } = tree as unknown as { commands: CommandNode[] };
  const closed = (...names: string[]): Json => {
    let nodes = commands;
    for (const name of names.slice(0, -1)) nodes = nodes.find((node) => node.name === name)?.commands ?? [];
    const node = nodes.find(({ name }) => name === names.at(-1));
    const values = [...(node?.flags ?? []), ...(node?.arguments ?? [])].filter(({ choices }) => choices !== null);
    return Object.fromEntries(values.map(({ name, choices }) => [String(name), choices]));
  };
  expect([
    closed("completion"),
    closed("api"),
    closed("service", "autopilot"),
    closed("autopilot", "remove"),
    closed("responses", "export"),
  ]).toEqual([
    { shell: ["bash", "zsh", "fish", "powershell"] },
    { method: ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS"] },
    { "--platform": ["email", "sms"], "--first": ["spread", "now"] },
    { "--platform": ["email", "sms"], "--on-duplicate": ["error", "first", "last"] },
    { "--expand": ["person", "notes"], "--output": ["csv", "tsv", "json", "ndjson", "parquet"] },
  ]);
});

it("when a command sends the rows of a file, then the tree has every status of its work and of its first request", () => {
  const { commands } = tree as unknown as { commands: CommandNode[] };
  const verbs = commands.flatMap((noun) => noun.commands.map((verb) => ({ ...verb, noun: String(noun.name) })));
  const bulk = verbs.filter(({ flags }) => flags.some(({ name }) => name === "--resume"));
  expect(bulk.map(({ noun, name, exit_statuses: statuses }) => [`${noun} ${String(name)}`, statuses])).toEqual(
    ["people import", "responses import", "autopilot remove", "autopilot import"].map((name) => [
      name,
      [0, 1, 2, 3, 4, 5, 130, 143],
    ]),
  );
});

it("when a flag has a default, choices or a variable, then the tree tells them", () => {
  const flags = tree["global_flags"] as Json[];
  expect(flags.find(({ name }) => name === "--output")).toEqual({
    name: "--output",
    short: "-o",
    type: "string",
    value: "format",
    description: "output format",
    choices: ["table", "record", "json", "ndjson", "csv", "tsv", "markdown"],
    suggestions: null,
    default: "table on a terminal, tsv in a pipe, csv for export",
    environment: "SURVEYCTL_OUTPUT",
    repeatable: false,
    required: false,
    requires: [],
    conflicts: [],
  });
  const verb = firstVerb(tree as unknown as { commands: CommandNode[] });
  expect(verb.flags.find(({ name }) => name === "--limit")).toEqual({
    name: "--limit",
    short: "-L",
    type: "integer",
    value: "n",
    description: "maximum number of rows",
    choices: null,
    suggestions: null,
    default: "50",
    environment: null,
    repeatable: false,
    required: false,
    requires: [],
    conflicts: ["--all", "--count"],
  });
  const all = verb.flags.find(({ name }) => name === "--all");
  expect(all?.["conflicts"]).toEqual(["--limit"]);
});

/** `help --json`: the command tree for machines. */
import type { Command } from "commander";
import type { JsonObject } from "../../contract/json.ts";
import { type FlagRecord, typeOf } from "../args/flag-record.ts";
import { GLOBAL_FLAGS } from "../args/global-options.ts";
import type { CommandRegistry, Operand } from "../command/command-context.ts";
import { loadCommands } from "../program.ts";
import { EXIT_MEANINGS } from "../exit-codes.ts";
import type { Column, ColumnKind, Resource } from "../render/columns.ts";
import { exitsOf, operandName } from "./help-layout.ts";
import { TOPICS } from "./topics.ts";

export async function writeTree(): Promise<string> {
  const { program, facts } = await loadCommands();
  const tree = {
    name: program.name(),
    description: program.description(),
    global_flags: GLOBAL_FLAGS.map(describeFlag),
    exit_statuses: EXIT_MEANINGS,
    topics: [...TOPICS.keys()],
    commands: program.commands.map((command) => describeCommand(command, facts)),
  };
  return `${JSON.stringify(tree, null, 2)}\n`;
}

function describeCommand(command: Command, facts: CommandRegistry, above: readonly string[] = []): object {
  const { operands = [], flags = [], columns, examples } = facts.get(command);
  return {
    name: command.name(),
    aliases: command.aliases(),
    description: command.description(),
    arguments: operands.map(describeOperand),
    flags: flags.map(describeFlag),
    columns: columns?.columns.map(({ name }) => name) ?? [],
    output_schema: columns === undefined ? null : outputSchema([...above, command.name()].join(" "), columns),
    examples,
    exit_statuses: exitsOf(facts.get(command)),
    commands: command.commands.map((sub) => describeCommand(sub, facts, [...above, command.name()])),
  };
}

function describeOperand([form, description, choices]: Operand): object {
  const name = operandName(form);
  const required = form.startsWith("<");
  const type = name === "file" ? "path" : "string";
  return { name, type, description, choices: choices ?? null, required, variadic: form.includes("...") };
}

/** Every flag has every key, null where there is nothing to say. */
function describeFlag(flag: FlagRecord): object {
  return {
    name: flag.flag,
    short: flag.short ?? null,
    type: typeOf(flag.value),
    value: flag.value ?? null,
    description: flag.text,
    choices: flag.choices ?? null,
    suggestions: flag.suggestions ?? null,
    default: flag.default ?? flag.otherwise ?? null,
    environment: flag.environment ?? null,
    repeatable: flag.repeatable === true || flag.counted === true,
  };
}

const NUMBER: JsonObject = { type: ["number", "null"] };
const OBJECT = ["object", "null"];
const ID_OR_OBJECT = ["string", "integer", ...OBJECT];
const KINDS: Readonly<Record<ColumnKind, JsonObject>> = {
  text: {},
  choices: {},
  status: {},
  id: { type: ["string", "integer", "null"] },
  phone: { type: ["string", "null"] },
  time: { type: ["integer", "null"], description: "Unix seconds" },
  flag: { type: ["boolean", "null"] },
  number: NUMBER,
  change: NUMBER,
  nps: NUMBER,
  points: NUMBER,
  share: NUMBER,
  probability: NUMBER,
  score: NUMBER,
  duration: { ...NUMBER, description: "seconds" },
};

/**
 * The JSON Schema of what a command prints with `-o json`: a list prints an array, other commands an object or several.
 * Fields of which the command knows nothing may come too.
 */
function outputSchema(title: string, { noun, columns, json = [columns] }: Resource): JsonObject {
  const [row = {}, ...others] = json.map(toObject);
  const rows: JsonObject = { type: "array", items: { $ref: "#/$defs/row" } };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `surveyctl ${title} -o json`,
    description: noun,
    ...(title.endsWith(" list") ? rows : { anyOf: [{ $ref: "#/$defs/row" }, rows] }),
    $defs: { row: others.length === 0 ? row : { anyOf: [row, ...others] } },
  };
}

type NamedField = Pick<Column, "name" | "kind">;

function toObject(fields: readonly NamedField[]): JsonObject {
  return { type: "object", properties: toProperties(fields) };
}

/** Fields with dotted paths are those of an object inside. */
function toProperties(fields: readonly NamedField[]): JsonObject {
  const names = new Set(fields.map(({ name }) => name.replace(/\..*/s, "")));
  return Object.fromEntries(
    [...names].map((name) => {
      const own = fields.find((field) => field.name === name);
      const start = `${name}.`;
      const inner = fields.filter((field) => field.name.startsWith(start));
      if (own !== undefined && inner.length === 0) return [name, KINDS[own.kind]];
      const within = inner.map((field) => ({ ...field, name: field.name.slice(start.length) }));
      return [name, { type: own === undefined ? OBJECT : ID_OR_OBJECT, properties: toProperties(within) }];
    }),
  );
}

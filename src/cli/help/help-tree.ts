import type { JsonObject } from "../../contract/json.ts";
import { KIND_SCHEMAS } from "../../contract/column-kinds.ts";
import { type FlagRecord, typeOf } from "../args/flag-record.ts";
import { GLOBAL_FLAGS } from "../args/global-options.ts";
import { EXIT_MEANINGS } from "../exit-codes.ts";
import type { CommandNode, Operand } from "../kit/command-node.ts";
import { loadGroups } from "../program/command-groups.ts";
import type { Column, Resource } from "../render/columns.ts";
import { exitsOf, operandName, SUMMARY } from "./help-layout.ts";
import { TOPICS } from "./topics.ts";

export async function describeProgram(): Promise<object> {
  return {
    name: "surveyctl",
    description: SUMMARY,
    global_flags: GLOBAL_FLAGS.map((flag) => describeFlag(flag, GLOBAL_FLAGS)),
    exit_statuses: EXIT_MEANINGS,
    topics: [...TOPICS.keys()],
    commands: (await loadGroups()).map((command) => describeCommand(command)),
  };
}

export function describeCommand(command: CommandNode, above: readonly string[] = []): object {
  const { name, alias, summary, operands, flags, columns, examples, operation, commands } = command;
  const words = [...above, name];
  return {
    name,
    aliases: alias === null ? [] : [alias],
    description: summary,
    arguments: operands.map(describeOperand),
    flags: flags.map((flag) => describeFlag(flag, flags)),
    columns: columns?.columns.map((column) => column.name) ?? [],
    output_schema: columns === null ? null : outputSchema(words.join(" "), columns),
    operation,
    examples,
    exit_statuses: exitsOf(command),
    commands: commands.map((sub) => describeCommand(sub, words)),
  };
}

function describeOperand([form, description, choices]: Operand): object {
  const name = operandName(form);
  const required = form.startsWith("<");
  const type = name === "file" ? "path" : "string";
  return { name, type, description, choices: choices ?? null, required, variadic: form.includes("...") };
}

function describeFlag(record: FlagRecord, all: readonly FlagRecord[]): object {
  const { flag, conflicts = [] } = record;
  const others = all.filter((other) => other.conflicts?.includes(flag) === true).map((other) => other.flag);
  return {
    name: flag,
    short: record.short ?? null,
    type: typeOf(record.value),
    value: record.value ?? null,
    description: record.text,
    choices: record.choices ?? null,
    suggestions: record.suggestions ?? null,
    default: record.default ?? record.otherwise ?? null,
    environment: record.environment ?? null,
    repeatable: record.repeatable === true || record.counted === true,
    required: record.required === true,
    requires: record.requires ?? [],
    conflicts: [...new Set([...conflicts, ...others])],
  };
}

const OBJECT = ["object", "null"];
const ID_OR_OBJECT = ["string", "integer", ...OBJECT];

function outputSchema(title: string, { noun, columns, json = [columns] }: Resource): JsonObject {
  const [row = {}, ...others] = json.map((fields) => ({ type: "object", properties: toProperties(fields) }));
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

/** Dotted names are the fields of nested objects. */
function toProperties(fields: readonly NamedField[]): JsonObject {
  const names = new Set(fields.map(({ name }) => name.replace(/\..*/s, "")));
  return Object.fromEntries(
    [...names].map((name) => {
      const own = fields.find((field) => field.name === name);
      const start = `${name}.`;
      const inner = fields.filter((field) => field.name.startsWith(start));
      if (own !== undefined && inner.length === 0) return [name, KIND_SCHEMAS[own.kind]];
      const within = inner.map((field) => ({ ...field, name: field.name.slice(start.length) }));
      return [name, { type: own === undefined ? OBJECT : ID_OR_OBJECT, properties: toProperties(within) }];
    }),
  );
}

/** Validates a command's JSON output against its own schema. */
import { Ajv2020, type ValidateFunction } from "ajv/dist/2020.js";
import { runInProcess } from "./in-process.ts";

interface Node {
  readonly name: string;
  readonly aliases: readonly string[];
  readonly output_schema: object | null;
  readonly commands: readonly Node[];
}

const state: { tree: Promise<readonly Node[]> | null } = { tree: null };
const validators = new Map<object, ValidateFunction>();

/** These flags change the fields of the output. */
const OTHER_FIELDS = /--(?:dry-run|columns|group)\b/;

/** A single surveyctl command that prints only JSON. */
const PLAIN = /^(?:[A-Z_]+=\S+ )*surveyctl ([^|;&<>]*(?:--json|-o json)(?: [^|;&<>]*)?)$/;

/** Forbids fields that the schema doesn't name. */
export function closed(schema: object): object {
  return JSON.parse(JSON.stringify(schema), (_, value: unknown) =>
    typeof value === "object" && value !== null && "type" in value && "properties" in value
      ? { ...value, additionalProperties: false }
      : value,
  ) as object;
}

/** Returns the validation errors; none if the command prints something other than its own JSON. */
export async function wrongForm(commandLine: string, stdout: string): Promise<string[]> {
  const [, words] = PLAIN.exec(commandLine) ?? [];
  if (words === undefined || stdout.trim() === "" || OTHER_FIELDS.test(words)) return [];
  state.tree ??= readTree();
  const schema = findSchema(await state.tree, words.split(" "));
  if (schema === null) return [];
  const validate = validators.get(schema) ?? new Ajv2020({ allowUnionTypes: true }).compile(closed(schema));
  validators.set(schema, validate);
  return validate(JSON.parse(stdout))
    ? []
    : [`stdout does not keep to the schema of the command: ${JSON.stringify(validate.errors)}`];
}

async function readTree(): Promise<readonly Node[]> {
  const { stdout } = await runInProcess({ args: ["help", "--json"] });
  return (JSON.parse(stdout) as { commands: readonly Node[] }).commands;
}

function findSchema(nodes: readonly Node[], [word = "", ...rest]: readonly string[]): object | null {
  const node = nodes.find(({ name, aliases }) => name === word || aliases.includes(word));
  if (node === undefined) return null;
  return node.output_schema ?? findSchema(node.commands, rest);
}

/** `help --json`: the whole command tree for machines. */
import type { Argument, Command, Option } from "commander";
import { LOCALES } from "../../contract/locales.ts";
import { GLOBAL_FLAGS, type GlobalFlag } from "../args/global-flags.ts";
import { loadCommands } from "../program.ts";
import { columnsOf } from "./command-columns.ts";
import { EXIT_MEANINGS } from "../exit-codes.ts";
import { exitsOf, ownOptions } from "./help-layout.ts";
import { TOPICS } from "./topics.ts";
import type { FactsBook } from "./command-facts.ts";

export async function writeTree(): Promise<string> {
  const { program, facts } = await loadCommands();
  const tree = {
    name: program.name(),
    description: program.description(),
    global_flags: GLOBAL_FLAGS.map(describeGlobalFlag),
    exit_statuses: EXIT_MEANINGS,
    topics: [...TOPICS.keys()],
    commands: program.commands.map((command) => describeCommand(command, [], facts)),
  };
  return `${JSON.stringify(tree, null, 2)}\n`;
}

function describeCommand(command: Command, above: readonly string[], facts: FactsBook): object {
  const path = [...above, command.name()];
  const { examples, operands } = facts.get(command);
  return {
    name: command.name(),
    aliases: command.aliases(),
    description: command.description(),
    arguments: command.registeredArguments.map((argument, index) => describeArgument(argument, operands[index] ?? "")),
    flags: ownOptions(command).map(describeOption),
    columns: columnsOf(path.join(" ")),
    examples,
    exit_statuses: exitsOf(command, facts.get(command)),
    commands: command.commands.map((sub) => describeCommand(sub, path, facts)),
  };
}

function describeArgument(argument: Argument, form: string): object {
  const { description, variadic, argChoices } = argument;
  const required = form.startsWith("<");
  const name = argument.name();
  return { name, type: VALUE_TYPES[name] ?? "string", description, choices: argChoices ?? null, required, variadic };
}

/** Every flag has every key, null where there is nothing to say. */
interface Flag {
  readonly name: string;
  readonly short: string | null;
  readonly type: ValueType;
  /** What help calls the value. */
  readonly value: string | null;
  readonly description: string;
  readonly choices: readonly string[] | null;
  /** Values that mean something, where others are taken too. */
  readonly suggestions: readonly string[] | null;
  readonly default: string | null;
  readonly environment: string | null;
  readonly repeatable: boolean;
}

function describeOption({ flags, description, argChoices, defaultValue }: Option): Flag {
  const value: unknown = defaultValue;
  const words = readDescription(description);
  return {
    ...describeFlags(flags),
    description: words.description,
    choices: argChoices ?? null,
    suggestions: flags.startsWith("--locale ") ? LOCALES : null,
    default: typeof value === "string" || typeof value === "number" ? String(value) : words.default,
    environment: words.environment,
    repeatable: Array.isArray(value),
  };
}

/** What a description says in brackets at its end: `(default: now)`, `(env SURVEYCTL_DATA)`. */
function readDescription(text: string): Pick<Flag, "description" | "default" | "environment"> {
  const [, description = text, value = null] = /^(.*) \(default: (.*)\)$/.exec(text) ?? [];
  const [, rest = description, variable = null] = /^(.*) \(env (\w+)\)$/.exec(description) ?? [];
  return { description: rest, default: value, environment: variable };
}

function describeGlobalFlag(flag: GlobalFlag): Flag {
  return {
    ...describeFlags(flag.flags),
    description: flag.description,
    choices: flag.choices ?? null,
    suggestions: null,
    default: flag.default ?? null,
    environment: flag.environment ?? null,
    repeatable: flag.repeatable === true || flag.counted === true,
  };
}

/** `-o, --output <format>` taken apart; a flag without a value is a boolean. */
function describeFlags(flags: string): Pick<Flag, "name" | "short" | "type" | "value"> {
  const value = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? null;
  return {
    name: /--[\w-]+/.exec(flags)?.[0] ?? flags,
    short: /(?:^|\s)(-\w)(?=,|\s|$)/.exec(flags)?.[1] ?? null,
    type: value === null ? "boolean" : (VALUE_TYPES[value] ?? "string"),
    value,
  };
}

type ValueType =
  | "boolean"
  | "string"
  | "integer"
  | "rate"
  | "time"
  | "duration"
  | "email"
  | "phone"
  | "url"
  | "path"
  | "pair"
  | "json"
  | "list";

/** What a value must be, by the name that help gives it; text where it is none of these. */
const VALUE_TYPES: Readonly<Record<string, ValueType>> = {
  n: "integer",
  line: "integer",
  number: "integer",
  rate: "rate",
  time: "time",
  duration: "duration",
  email: "email",
  phone: "phone",
  url: "url",
  file: "path",
  "header=column": "pair",
  "key=value": "pair",
  json: "json",
  names: "list",
  groups: "list",
};

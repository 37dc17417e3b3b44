/** `help --json`: the whole command tree for machines. */
import type { Argument, Command, Option } from "commander";
import { GLOBAL_FLAGS } from "../args/global-flags.ts";
import { loadCommands } from "../program.ts";
import { columnsOf } from "./command-columns.ts";
import { EXIT_MEANINGS, exitsOf, ownOptions } from "./help-layout.ts";
import { TOPICS } from "./topics.ts";
import type { FactsBook } from "./command-facts.ts";

export async function writeTree(): Promise<string> {
  const { program, facts } = await loadCommands();
  const tree = {
    name: program.name(),
    description: program.description(),
    global_flags: GLOBAL_FLAGS.map(({ flags, ...rest }) => ({ ...describeFlags(flags), ...rest })),
    exit_statuses: EXIT_MEANINGS,
    topics: [...TOPICS.keys()],
    commands: program.commands.map((command) => describeCommand(command, [], facts)),
  };
  return `${JSON.stringify(tree, null, 2)}\n`;
}

function describeCommand(command: Command, above: readonly string[], facts: FactsBook): object {
  const path = [...above, command.name()];
  const { examples } = facts.get(command);
  return {
    name: command.name(),
    aliases: command.aliases(),
    description: command.description(),
    arguments: command.registeredArguments.map(describeArgument),
    flags: ownOptions(command).map(describeOption),
    columns: columnsOf(path.join(" ")),
    examples,
    exit_statuses: exitsOf(command, facts.get(command)),
    commands: command.commands.map((sub) => describeCommand(sub, path, facts)),
  };
}

function describeArgument(argument: Argument): object {
  return { name: argument.name(), description: argument.description, required: argument.required, variadic: argument.variadic };
}

function describeOption(option: Option): object {
  return {
    ...describeFlags(option.flags),
    description: option.description,
    choices: option.argChoices ?? null,
    default: (option.defaultValue as unknown) ?? null,
    repeatable: Array.isArray(option.defaultValue),
  };
}

/** `-o, --output <format>` taken apart; a flag without a value is a boolean. */
function describeFlags(flags: string): object {
  const value = /[<[]([^>\]]+)[>\]]/.exec(flags)?.[1] ?? null;
  return {
    name: /--[\w-]+/.exec(flags)?.[0] ?? flags,
    short: /(?:^|\s)(-\w)(?=,|\s|$)/.exec(flags)?.[1] ?? null,
    type: value ?? "boolean",
  };
}

import { runCli } from "./run-cli.ts";

export interface CommandNode {
  readonly name: string;
  readonly flags: readonly { readonly name: string; readonly short: string | null }[];
  readonly examples: readonly string[];
  readonly exit_statuses: readonly number[];
  readonly commands: readonly CommandNode[];
}

export interface CommandLine {
  readonly name: string;
  readonly flags: readonly string[];
  readonly examples: readonly string[];
  readonly exits: readonly number[];
}

interface Tree {
  readonly global_flags: CommandNode["flags"];
  readonly topics: readonly string[];
  readonly commands: readonly CommandNode[];
}

export async function readCommands(): Promise<CommandLine[]> {
  const { stdout } = await runCli({ args: ["help", "--json"] });
  return commandsOf(stdout);
}

export function commandsOf(json: string): CommandLine[] {
  const tree = JSON.parse(json) as Tree;
  const shared = tree.global_flags.flatMap(namesOf);
  return tree.commands.flatMap((command) => below(command, [], shared));
}

function below(command: CommandNode, path: readonly string[], shared: readonly string[]): CommandLine[] {
  const words = [...path, command.name];
  const verbs = command.commands.flatMap((sub) => below(sub, words, shared));
  if (command.exit_statuses.length === 0) return verbs;
  const flags = [...shared, ...command.flags.flatMap(namesOf), "--help", "-h"];
  return [{ name: words.join(" "), flags, examples: command.examples, exits: command.exit_statuses }, ...verbs];
}

function namesOf({ name, short }: CommandNode["flags"][number]): string[] {
  return short === null ? [name] : [name, short];
}

/** `service` and `service webhook` for `service webhook add`. */
export function groupsAbove(name: string): readonly string[] {
  const words = name.split(" ");
  return words.slice(1).map((_, at) => words.slice(0, at + 1).join(" "));
}

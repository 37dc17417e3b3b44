/** A command as data: the parser, help, `help --json`, the man page and completion read the same tree. */
import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import type { Deps } from "./deps.ts";

/** As usage writes it, `<file>` or `[topic]`; what it is; the only values it can have. */
export type Operand = readonly [form: string, text: string, choices?: readonly string[]];

/** `words` are the ones that are not flags. Throws the errors that the program describes. */
export type Action = (deps: Deps, flags: Flags, words: readonly string[]) => Promise<ExitCode>;

export interface CommandNode {
  /** Empty for the action of a group, such as `metrics`. */
  readonly name: string;
  readonly alias: string | null;
  /** One sentence, without a full stop. */
  readonly summary: string;
  readonly operands: readonly Operand[];
  /** No word after the first operand is a flag. */
  readonly flagsFirst: boolean;
  readonly examples: readonly string[];
  /** Exit statuses besides usage errors. */
  readonly exits: readonly ExitCode[];
  readonly flags: readonly FlagRecord[];
  readonly columns: Resource | null;
  /** Null for a group that does nothing without one of its commands. */
  readonly action: Action | null;
  readonly commands: readonly CommandNode[];
}

interface Group extends Pick<CommandNode, "name" | "summary" | "commands"> {
  readonly alias?: string | null;
}

/** Commands under one name, such as `service webhook`. One of them may have no name: the group's own action. */
export function defineGroup({ name, alias = null, summary, commands }: Group): CommandNode {
  const own = commands.find((command) => command.name === "") ?? NO_ACTION;
  return { ...own, name, alias, summary, commands: commands.filter((command) => command !== own) };
}

const NO_ACTION: CommandNode = {
  name: "",
  alias: null,
  summary: "",
  operands: [],
  flagsFirst: false,
  examples: [],
  exits: [],
  flags: [],
  columns: null,
  action: null,
  commands: [],
};

import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";
import type { Deps } from "./deps.ts";

/** Form (such as `<file>`), description and choices. */
export type Operand = readonly [form: string, text: string, choices?: readonly string[]];

export type Action = (deps: Deps, flags: Flags, words: readonly string[]) => Promise<ExitCode>;

/** The parser, help, `help --json`, the man page and completion all read the same tree. */
export interface CommandNode {
  readonly name: string;
  readonly alias: string | null;
  readonly summary: string;
  /** Paragraphs of help after the summary. A paragraph with line breaks is printed unchanged. */
  readonly about: readonly string[];
  readonly operands: readonly Operand[];
  readonly flagsFirst: boolean;
  readonly examples: readonly string[];
  readonly exits: readonly ExitCode[];
  readonly flags: readonly FlagRecord[];
  readonly columns: Resource | null;
  readonly operation: string | null;
  /** Null for a group without an action of its own. */
  readonly action: Action | null;
  readonly commands: readonly CommandNode[];
}

interface Group extends Pick<CommandNode, "name" | "summary" | "commands">, Partial<Pick<CommandNode, "about">> {
  readonly alias?: string | null;
}

/** A command without a name is the group's own action. */
export function defineGroup({ name, alias = null, summary, about, commands }: Group): CommandNode {
  const own = commands.find((command) => command.name === "") ?? NO_ACTION;
  const below = commands.filter((command) => command !== own);
  return { ...own, name, alias, summary, about: about ?? own.about, commands: below };
}

export const NO_ACTION: CommandNode = {
  name: "",
  alias: null,
  summary: "",
  about: [],
  operands: [],
  flagsFirst: false,
  examples: [],
  exits: [],
  flags: [],
  columns: null,
  operation: null,
  action: null,
  commands: [],
};

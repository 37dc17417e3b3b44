/** The needs of a verb's register half: a way to declare itself and a way to tie its flags to its work. */
import type { Command } from "commander";
import type { FlagRecord } from "../args/flag-record.ts";
import type { Flags } from "../args/flags.ts";
import type { Deps } from "./deps.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Resource } from "../render/columns.ts";

/** As usage writes it, `<file>` or `[topic]`; what it is; what it can only be. */
export type Operand = readonly [form: string, text: string, choices?: readonly string[]];

export interface CommandFacts {
  readonly name: string;
  readonly alias?: string;
  /** A name that it had before and is still called by; help does not show it. */
  readonly formerly?: string;
  /** One sentence, without a dot. */
  readonly summary: string;
  readonly operands?: readonly Operand[];
  /** Flags come before the operands: behind the first of them no word is a flag, whatever it begins with. */
  readonly flagsFirst?: boolean;
  /** Command lines that a user can copy; two or more. */
  readonly examples: readonly string[];
  readonly exits: readonly ExitCode[];
  readonly flags?: readonly FlagRecord[];
  readonly columns?: Resource;
}

/** A verb's work: `operands` are the words that are not flags. Throws the errors that the program describes. */
export type Action = (deps: Deps, flags: Flags, operands: readonly string[]) => Promise<ExitCode>;

export interface CommandContext {
  verb(noun: Command, facts: CommandFacts): Command;
  /** Gives a noun that acts by itself (`metrics`, `serve`, `report`) its operands, examples and statuses. */
  describe(noun: Command, facts: Omit<CommandFacts, "name" | "summary" | "alias" | "formerly">): Command;
  action(command: Command, work: Action): void;
}

/** The facts that a command declared and commander does not keep, for help. */
export type HelpFacts = Omit<CommandFacts, "name" | "summary" | "alias" | "formerly">;

/** False for a noun that only groups verbs: it ends with no status of its own. */
export function acts({ exits }: HelpFacts): boolean {
  return exits.length > 0;
}

/** Kept apart from the commands, since commander has no place for them. */
export interface CommandRegistry {
  set(command: Command, facts: HelpFacts): void;
  /** A noun that only groups verbs has none of its own. */
  get(command: Command): HelpFacts;
}

export function createCommandRegistry(): CommandRegistry {
  const facts = new WeakMap<Command, HelpFacts>();
  return {
    set: (command, entry) => {
      facts.set(command, entry);
    },
    get: (command) => facts.get(command) ?? { examples: [], exits: [] },
  };
}

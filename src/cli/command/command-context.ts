/** How nouns that are not yet data declare their commands. */
import type { Command } from "commander";
import type { FlagRecord } from "../args/flag-record.ts";
import type { ExitCode } from "../exit-codes.ts";
import type { Action, Operand } from "../kit/command-node.ts";
import type { Resource } from "../render/columns.ts";

export interface CommandFacts {
  readonly name: string;
  readonly alias?: string;
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

export interface CommandContext {
  verb(noun: Command, facts: CommandFacts): Command;
  /** Gives a noun that acts by itself (`metrics`, `serve`, `report`) its operands, examples and statuses. */
  describe(noun: Command, facts: Omit<CommandFacts, "name" | "summary" | "alias">): Command;
  action(command: Command, work: Action): void;
}

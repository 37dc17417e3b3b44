/** What a verb's register half needs: a way to declare itself and a way to tie its flags to its work. */
import type { Command } from "commander";
import type { Flags } from "../args/flags.ts";
import type { Deps } from "./deps.ts";
import type { ExitCode } from "../exit-codes.ts";

export interface CommandFacts {
  readonly name: string;
  readonly alias?: string;
  /** One sentence, without a dot. */
  readonly summary: string;
  /** Commander's form: `<file>`, `[topic]`; the words say what it is, `choices` what it can only be. */
  readonly operands?: readonly (readonly [form: string, description: string, choices?: readonly string[]])[];
  /** Command lines that a user can copy; two or more. */
  readonly examples: readonly string[];
  /** The statuses it can end with, besides usage errors. */
  readonly exits: readonly ExitCode[];
}

/** A verb's work: `operands` are the words that are no flags. Throws the errors of the ladder. */
export type Action = (deps: Deps, flags: Flags, operands: readonly string[]) => Promise<ExitCode>;

export interface CommandContext {
  /** Adds a verb to its noun. */
  verb(noun: Command, facts: CommandFacts): Command;
  /** Gives a noun without verbs (`metrics`, `serve`) its operands, examples and statuses. */
  describe(noun: Command, facts: Omit<CommandFacts, "name" | "summary" | "alias">): Command;
  action(command: Command, work: Action): void;
}

/** For `option(…, collect, [])`: every value of a repeatable flag, in order. */
export function collect(value: string, before: readonly string[]): string[] {
  return [...before, value];
}

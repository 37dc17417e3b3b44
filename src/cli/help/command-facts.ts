import type { Command } from "commander";
import type { ExitCode } from "../exit-codes.ts";

/** What help tells beyond what commander keeps. */
export interface HelpFacts {
  readonly examples: readonly string[];
  readonly exits: readonly ExitCode[];
  /** As usage writes them, in order: `<file>`, `[method]`. */
  readonly operands: readonly string[];
}

/** Kept beside the commands, since commander has no place for them. */
export interface FactsBook {
  set(command: Command, facts: HelpFacts): void;
  get(command: Command): HelpFacts;
}

export function createFactsBook(): FactsBook {
  const facts = new WeakMap<Command, HelpFacts>();
  return {
    set: (command, entry) => {
      facts.set(command, entry);
    },
    get: (command) => facts.get(command) ?? { examples: [], exits: [], operands: [] },
  };
}

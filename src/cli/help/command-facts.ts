import type { Command } from "commander";
import type { CommandFacts } from "../command/command-context.ts";

/** What help needs beyond what commander keeps: the facts that a command declared. */
export type HelpFacts = Omit<CommandFacts, "name" | "summary" | "alias">;

/** Kept beside the commands, since commander has no place for them. */
export interface FactsBook {
  set(command: Command, facts: HelpFacts): void;
  /** A noun that only groups verbs has none of its own. */
  get(command: Command): HelpFacts;
}

export function createFactsBook(): FactsBook {
  const facts = new WeakMap<Command, HelpFacts>();
  return {
    set: (command, entry) => {
      facts.set(command, entry);
    },
    get: (command) => facts.get(command) ?? { examples: [], exits: [] },
  };
}

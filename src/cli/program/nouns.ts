/** The nouns as data: root help needs no more; a noun's verbs load when it is named. */
import type { Command } from "commander";
import type { CommandContext } from "../commands/command-context.ts";

export interface Noun {
  readonly name: string;
  readonly alias?: string;
  readonly summary: string;
  readonly group: "Survey data" | "Service" | "Connection and more";
  readonly load: () => Promise<{ readonly register: (noun: Command, context: CommandContext) => void }>;
}

export const NOUNS: readonly Noun[] = [];

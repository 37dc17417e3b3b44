/** Turns nouns with a `register` function into command nodes, until the last of them is converted. */
import type { Command } from "commander";
import type { CommandContext, CommandFacts } from "../command/command-context.ts";
import { type CommandNode, defineGroup } from "./command-node.ts";

type Register = (noun: Command, context: CommandContext) => void;

export function commandsOf(register: Register): readonly CommandNode[] {
  const noun = new Collector("");
  register(noun as unknown as Command, CONTEXT);
  return noun.nodes();
}

class Collector {
  readonly name: string;
  summary = "";
  facts: Omit<CommandFacts, "name" | "summary"> | null = null;
  work: CommandNode["action"] = null;
  readonly below: Collector[] = [];

  constructor(name: string) {
    this.name = name;
  }

  command(name: string): Collector {
    const command = new Collector(name);
    this.below.push(command);
    return command;
  }

  description(summary: string): this {
    this.summary = summary;
    return this;
  }

  /** Its own action without a name, then its commands. */
  nodes(): readonly CommandNode[] {
    return [...(this.facts === null ? [] : [this.own(this.facts)]), ...this.below.map((command) => command.node())];
  }

  node(): CommandNode {
    const { name, summary, facts } = this;
    const group = { name, summary, commands: this.nodes() };
    return defineGroup(facts?.alias === undefined ? group : { ...group, alias: facts.alias });
  }

  own({ operands = [], flagsFirst = false, flags = [], columns = null, examples, exits }: Facts): CommandNode {
    const { summary, work: action } = this;
    return {
      name: "",
      alias: null,
      summary,
      operands,
      flagsFirst,
      examples,
      exits,
      flags,
      columns,
      action,
      commands: [],
    };
  }
}

type Facts = Omit<CommandFacts, "name" | "summary" | "columns"> & { readonly columns?: CommandNode["columns"] };

const CONTEXT: CommandContext = {
  describe: (noun, facts) => {
    asCollector(noun).facts = facts;
    return noun;
  },
  verb: (noun, { name, summary, ...facts }) => {
    const command = asCollector(noun).command(name).description(summary);
    command.facts = facts;
    return command as unknown as Command;
  },
  action: (command, work) => {
    asCollector(command).work = work;
  },
};

function asCollector(command: Command): Collector {
  return command as unknown as Collector;
}

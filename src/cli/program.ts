/** Puts the program together: global flags, nouns, help, and the way from an error to an exit status. */
import { Command, CommanderError, Option } from "commander";
import { GLOBAL_FLAGS, type GlobalFlag } from "./args/global-flags.ts";
import { collect, type Action, type CommandContext, type CommandFacts } from "./commands/command-context.ts";
import { UsageError } from "./errors/usage-error.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { createFactsBook, type FactsBook } from "./program/command-facts.ts";
import { layOutHelp, layOutRootHelp, SUMMARY } from "./program/help-layout.ts";
import { NOUNS, type Noun } from "./program/nouns.ts";

/** How a command line ended: with text for stdout, or with the status of the work that was done. */
export type Outcome = { readonly kind: "text"; readonly text: string } | { readonly kind: "done"; readonly exit: ExitCode };

export interface ProgramOptions {
  /** Does a command's work, its flags parsed; the world is made here and not before. */
  readonly perform: (action: Action, flags: Readonly<Record<string, unknown>>, operands: readonly string[]) => Promise<ExitCode>;
  readonly nouns?: readonly Noun[];
}

/** Reads one command line. Throws UsageError, and whatever the command's work throws. */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<Outcome> {
  const state: State = { text: "", exit: EXIT.done };
  const { program } = createProgram(options, state);
  if (args.length === 0) return { kind: "text", text: layOutRootHelp(options.nouns ?? NOUNS, SUMMARY) };
  try {
    await program.parseAsync([...args], { from: "user" });
    return { kind: "done", exit: state.exit };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help" || error.code === "commander.helpDisplayed") return { kind: "text", text: state.text };
    throw toUsageError(error);
  }
}

interface State {
  text: string;
  exit: ExitCode;
}

export interface LoadedProgram {
  readonly program: Command;
  readonly facts: FactsBook;
}

/** The whole tree, every noun's verbs declared; for help as JSON and for completion. */
export async function loadCommands(nouns: readonly Noun[] = NOUNS): Promise<LoadedProgram> {
  const { program, facts, context } = createProgram({ perform: async () => EXIT.done, nouns }, { text: "", exit: EXIT.done });
  for (const command of program.commands) {
    const noun = nouns.find(({ name }) => name === command.name());
    (await noun?.load())?.register(command, context);
  }
  return { program, facts };
}

function createProgram({ perform, nouns = NOUNS }: ProgramOptions, state: State): LoadedProgram & { readonly context: CommandContext } {
  const program = new Command("surveyctl").description(SUMMARY).helpCommand(false).exitOverride().showSuggestionAfterError(true);
  const facts = createFactsBook();
  const keep = (text: string): void => {
    state.text += text;
  };
  program.configureOutput({ writeOut: keep, writeErr: keep, outputError: () => undefined });
  program.configureHelp({
    formatHelp: (command) => (command === program ? layOutRootHelp(nouns, SUMMARY) : layOutHelp(command, facts.get(command))),
  });
  program.helpOption("-h, --help", "usage, flags, examples and exit statuses");
  for (const flag of GLOBAL_FLAGS) program.addOption(toOption(flag));
  const context = createContext(facts, async (action, command) => {
    state.exit = await perform(action, command.optsWithGlobals(), command.args);
  });
  addNouns(program, nouns, context);
  return { program, facts, context };
}

function toOption({ flags, description, counted, repeatable }: GlobalFlag): Option {
  const option = new Option(flags, description);
  if (counted === true) return option.argParser((_value: string, before: number | undefined) => (before ?? 0) + 1).default(0);
  return repeatable === true ? option.argParser(collect).default([]) : option;
}

/** A noun's verbs are declared when the noun is named on the command line, and not before. */
function addNouns(program: Command, nouns: readonly Noun[], context: CommandContext): void {
  for (const { name, alias, summary } of nouns) {
    const command = program.command(name).description(summary);
    if (alias !== undefined) command.alias(alias);
  }
  program.hook("preSubcommand", async (_program, command) => {
    const noun = nouns.find(({ name }) => name === command.name());
    const { register } = noun === undefined ? { register: () => undefined } : await noun.load();
    register(command, context);
  });
}

function createContext(facts: FactsBook, perform: (action: Action, command: Command) => Promise<void>): CommandContext {
  const describe: CommandContext["describe"] = (command, { operands = [], examples, exits }) => {
    for (const [form, description] of operands) command.argument(form, description);
    command.allowExcessArguments(false);
    facts.set(command, { examples, exits });
    return command;
  };
  return {
    describe,
    verb: (noun, { name, alias, summary, ...rest }: CommandFacts) => {
      const command = noun.command(name).description(summary);
      if (alias !== undefined) command.alias(alias);
      return describe(command, rest);
    },
    action: (command, work) => {
      command.action(() => perform(work, command));
    },
  };
}

/** Commander's sentence without its prefix; its "(Did you mean …?)" becomes the hint. */
function toUsageError({ message }: CommanderError): UsageError {
  const [what = "", suggestion] = message.replace(/^error: /, "").split("\n");
  const hint =
    suggestion === undefined
      ? "surveyctl --help lists the commands, <command> --help its flags"
      : suggestion.replace(/^\(|\)$/g, "").replace(/^Did/, "did");
  return new UsageError(what, { hint });
}

/** Puts the program together: global flags, nouns, help, and the way from an error to an exit status. */
import { Argument, Command, CommanderError, Option } from "commander";
import { VERSION } from "../runtime/version.ts";
import { type FlagRecord, formOf } from "./args/flag-record.ts";
import { GLOBAL_FLAGS } from "./args/global-options.ts";
import {
  type Action,
  acts,
  type CommandContext,
  type CommandFacts,
  createCommandRegistry,
  type CommandRegistry,
  type Operand,
} from "./command/command-context.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { arrange } from "./program/arrange.ts";
import { layOutHelp, layOutRootHelp, SUMMARY } from "./help/help-layout.ts";
import { type Noun, NOUNS } from "./program/nouns.ts";
import { incomplete, toUsageError } from "./program/usage-problems.ts";

/** The end of a command line: text for stdout, or the status of the work that was done. */
export type Outcome =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "done"; readonly exit: ExitCode };

export interface ProgramOptions {
  /** Does a command's work, its flags parsed; the world is made here and not before. */
  readonly invoke: (
    action: Action,
    flags: Readonly<Record<string, unknown>>,
    operands: readonly string[],
    /** Names of the flags that the command declares itself. */
    ownFlags: ReadonlySet<string>,
  ) => Promise<ExitCode>;
  readonly nouns?: readonly Noun[];
  /** Of help; 80 where nothing is said. */
  readonly columns?: number;
}

/** Reads one command line. Throws UsageError, and the errors of the command's work. */
export async function runProgram(args: readonly string[], options: ProgramOptions): Promise<Outcome> {
  const { nouns = NOUNS, columns } = options;
  if (args.length === 1 && (args[0] === "--help" || args[0] === "-h"))
    return { kind: "text", text: layOutRootHelp(nouns, columns) };
  const state: State = { text: "", exit: EXIT.done };
  const { program, facts, load } = createProgram(options, state);
  const arranged = await arrange(program, args, facts, load);
  const { command, path, rest, stray } = arranged;
  // `people help list` is `people list --help`.
  if (stray === "help") return runProgram([...path, ...rest.filter((word) => word !== "help"), "--help"], options);
  const isNamed = acts(facts.get(command));
  const helpIsAsked = rest.length === 0 || rest.includes("--help") || rest.includes("-h");
  const versionIsAsked = path.length === 0 && stray === null && (rest.includes("--version") || rest.includes("-V"));
  if (versionIsAsked) return { kind: "text", text: `${VERSION}\n` };
  if (stray !== null || (!isNamed && !helpIsAsked)) throw incomplete(arranged, facts);
  if (path.length === 0) return { kind: "text", text: layOutRootHelp(nouns, columns) };
  if (isNamed) addFlags(command, facts);
  try {
    await program.parseAsync([...path, ...(isNamed ? rest : ["--help"])], { from: "user" });
    return { kind: "done", exit: state.exit };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.help" || error.code === "commander.helpDisplayed")
      return { kind: "text", text: state.text };
    throw toUsageError(error, arranged, facts);
  }
}

interface State {
  text: string;
  exit: ExitCode;
}

export interface LoadedProgram {
  readonly program: Command;
  readonly facts: CommandRegistry;
}

/** The complete tree, every noun's verbs declared; for help as JSON and for completion. */
export async function loadCommands(): Promise<LoadedProgram> {
  const { program, facts, load } = createProgram({ invoke: async () => EXIT.done }, { text: "", exit: EXIT.done });
  for (const command of program.commands) {
    await load(command);
    addFlags(command, facts);
  }
  return { program, facts };
}

interface LoadingProgram extends LoadedProgram {
  /** Declares a noun's verbs, once. */
  readonly load: (noun: Command) => Promise<void>;
}

function createProgram({ invoke, nouns = NOUNS, columns }: ProgramOptions, state: State): LoadingProgram {
  const program = new Command("surveyctl")
    .description(SUMMARY)
    .helpCommand(false)
    .exitOverride()
    .showSuggestionAfterError(false);
  const facts = createCommandRegistry();
  const keep = (text: string): void => {
    state.text += text;
  };
  // Asked for width and colours, commander itself would open the streams.
  program.configureOutput({
    writeOut: keep,
    writeErr: keep,
    outputError: () => undefined,
    getOutHelpWidth: () => columns ?? 80,
    getOutHasColors: () => false,
  });
  program.configureHelp({
    formatHelp: (command) =>
      command === program ? layOutRootHelp(nouns, columns) : layOutHelp(command, facts.get(command), columns),
  });
  program.helpOption("-h, --help", "usage, flags, examples and exit statuses");
  const context = createContext(facts, async (action, command) => {
    const own = new Set<string>(facts.get(command).flags?.map(({ flag }) => flag));
    state.exit = await invoke(action, command.opts(), command.args, own);
  });
  return { program, facts, load: addNouns(program, nouns, context) };
}

function toOption(record: FlagRecord): Option {
  const option = new Option(formOf(record), record.text);
  if (record.counted === true)
    return option.argParser((_value: string, before: number | undefined) => (before ?? 0) + 1).default(0);
  if (record.repeatable === true)
    return option.argParser((value: string, before: readonly string[]) => [...before, value]).default([]);
  return record.default === undefined ? option : option.default(record.default);
}

/** A noun's verbs are declared when the noun is named on the command line, and not before. */
function addNouns(program: Command, nouns: readonly Noun[], context: CommandContext): (noun: Command) => Promise<void> {
  for (const { name, alias, summary } of nouns) {
    const command = program.command(name).description(summary);
    if (alias !== undefined) command.alias(alias);
  }
  const loaded = new Set<Command>();
  return async (command) => {
    const noun = nouns.find(({ name }) => name === command.name());
    if (noun === undefined || loaded.has(command)) return;
    loaded.add(command);
    const found = await noun.load();
    if ("commands" in found) for (const add of found.commands) add(command, context);
    else found.register(command, context);
  };
}

/** Commands that print JSON, whatever they have; of the others those with columns do. */
const JSON_WITHOUT_COLUMNS: ReadonlySet<string> = new Set(["api", "import", "schema"]);

/**
 * A command's own flags, for which the parser has no use until it is named, and the global ones: every command knows
 * them, unless it has one of that name itself; `--json` is short for a format.
 */
function addFlags(command: Command, facts: CommandRegistry): void {
  for (const sub of command.commands) addFlags(sub, facts);
  if (!acts(facts.get(command))) return;
  const { flags = [], columns } = facts.get(command);
  const own = new Set<string | undefined>(flags.flatMap(({ flag, short }) => [flag, short]));
  const free = GLOBAL_FLAGS.filter(
    ({ flag, short }) =>
      !own.has(flag) &&
      (short === undefined || !own.has(short)) &&
      !(flag === "--json" && own.has("--output")) &&
      !(flag === "--jq" && columns === undefined && !JSON_WITHOUT_COLUMNS.has(command.name())),
  );
  for (const flag of [...flags, ...free]) {
    command.addOption(toOption(flag));
    if (flag.formerly !== undefined) addFormerName(command, flag, flag.formerly);
  }
}

/** Under its former name the flag's value is kept by its name of today. */
function addFormerName(command: Command, record: FlagRecord, formerly: `--${string}`): void {
  const { value, text } = record;
  const former = new Option(formOf({ flag: formerly, text, ...(value !== undefined && { value }) }), text);
  command.addOption(former.hideHelp());
  command.on(`option:${former.name()}`, (given: unknown) =>
    command.setOptionValueWithSource(toOption(record).attributeName(), given, "cli"),
  );
}

function toArgument([form, description]: Operand, isAfterOptional: boolean): Argument {
  // The parser counts from the front: behind an optional word the command itself finds out what is missing.
  return new Argument(isAfterOptional ? form.replace(/^<(.*)>$/, "[$1]") : form, description);
}

/** The parser asks the same of every command above. */
function takeFlagsFirst(command: Command): void {
  for (let above = command.parent; above !== null; above = above.parent) above.enablePositionalOptions();
  command.passThroughOptions();
}

function createContext(
  facts: CommandRegistry,
  invoke: (action: Action, command: Command) => Promise<void>,
): CommandContext {
  const describe: CommandContext["describe"] = (command, entry) => {
    const { operands = [] } = entry;
    for (const [index, operand] of operands.entries())
      command.addArgument(toArgument(operand, operands[index - 1]?.[0].startsWith("[") === true));
    command.allowExcessArguments(false);
    facts.set(command, entry);
    return command;
  };
  return {
    describe,
    verb: (noun, { name, alias, formerly, summary, ...rest }: CommandFacts) => {
      const command = noun.command(name).description(summary);
      if (alias !== undefined) command.alias(alias);
      if (formerly !== undefined) command.alias(formerly);
      if (rest.flagsFirst === true) takeFlagsFirst(command);
      return describe(command, rest);
    },
    action: (command, work) => {
      command.action(() => invoke(work, command));
    },
  };
}

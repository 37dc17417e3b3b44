import { Argument, Command, CommanderError, Option } from "commander";
import { VERSION } from "../../runtime/version.ts";
import { type FlagRecord, formOf } from "../args/flag-record.ts";
import { Flags } from "../args/flags.ts";
import { GLOBAL_FLAGS } from "../args/global-options.ts";
import { layOutHelp, layOutRootHelp } from "../help/help-layout.ts";
import type { Action, CommandNode } from "../kit/command-node.ts";
import { arrange } from "./arrange.ts";
import { type CommandGroup, COMMAND_GROUPS } from "./command-groups.ts";
import { checkRules, incomplete, toUsageError } from "./usage-problems.ts";

export type CommandLine =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "call"; readonly call: Call };

export interface Call {
  readonly action: Action;
  readonly flags: Flags;
  readonly operands: readonly string[];
  readonly ownFlags: ReadonlySet<string>;
}

interface ReadOptions {
  readonly groups?: readonly CommandGroup[];
  readonly columns?: number;
}

export async function readCommandLine(
  args: readonly string[],
  { groups = COMMAND_GROUPS, columns = 80 }: ReadOptions = {},
): Promise<CommandLine> {
  if (args.length === 1 && (args[0] === "--help" || args[0] === "-h")) return text(layOutRootHelp(groups, columns));
  const arranged = await arrange(groups, args);
  const { command, path, rest, stray } = arranged;
  // `people help list` means `people list --help`.
  if (stray === "help")
    return readCommandLine([...path, ...rest.filter((word) => word !== "help"), "--help"], { groups, columns });
  const isRoot = path.length === 0;
  const helpIsAsked = rest.length === 0 || rest.includes("--help") || rest.includes("-h");
  if (isRoot && stray === null && (rest.includes("--version") || rest.includes("-V"))) return text(`${VERSION}\n`);
  if (stray !== null || (command.action === null && !helpIsAsked)) throw incomplete(arranged);
  if (isRoot) return text(layOutRootHelp(groups, columns));
  if (command.action === null) return text(layOutHelp(command, path, columns));
  const parser = createParser(command);
  try {
    parser.parse(rest, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.code === "commander.helpDisplayed") return text(layOutHelp(command, path, columns));
    throw toUsageError(error, parser, arranged);
  }
  const flags = new Flags(parser.opts());
  const typed = typedFlags(parser);
  checkRules(command, (flag) => typed.has(flag) && flags.has(flag));
  const ownFlags = new Set<string>(command.flags.map(({ flag }) => flag));
  return { kind: "call", call: { action: command.action, flags, operands: parser.args, ownFlags } };
}

function text(content: string): CommandLine {
  return { kind: "text", text: content };
}

function typedFlags(parser: Command): ReadonlySet<string | undefined> {
  const typed = parser.options.filter((option) => parser.getOptionValueSource(option.attributeName()) === "cli");
  return new Set(typed.map(({ long }) => long));
}

function createParser(command: CommandNode): Command {
  const parser = new Command(command.name)
    .exitOverride()
    .helpOption("-h, --help")
    // By default, Commander would open stdout and stderr to find out their width and colors.
    .configureOutput({ writeOut: () => undefined, outputError: () => undefined, getOutHasColors: () => false })
    .configureHelp({ formatHelp: () => "" })
    .showSuggestionAfterError(false)
    .allowExcessArguments(false)
    .passThroughOptions(command.flagsFirst);
  for (const [at, [form, description]] of command.operands.entries()) {
    // Commander fills arguments from the left, so the command itself checks an argument after an optional one.
    const isAfterOptional = command.operands[at - 1]?.[0].startsWith("[") === true;
    parser.addArgument(new Argument(isAfterOptional ? form.replace(/^<(.*)>$/, "[$1]") : form, description));
  }
  for (const flag of [...command.flags, ...sharedFlags(command)]) parser.addOption(toOption(flag));
  return parser;
}

function toOption(record: FlagRecord): Option {
  const option = new Option(formOf(record), record.text);
  if (record.implied !== undefined) return option.preset(record.implied);
  if (record.counted === true)
    return option.argParser((_value: string, before: number | undefined) => (before ?? 0) + 1).default(0);
  if (record.repeatable === true)
    return option.argParser((value: string, before: readonly string[]) => [...before, value]).default([]);
  return record.default === undefined ? option : option.default(record.default);
}

/** These commands print JSON although they have no columns. */
const JSON_WITHOUT_COLUMNS: ReadonlySet<string> = new Set(["api", "import"]);

function sharedFlags({ name, flags, columns }: CommandNode): readonly FlagRecord[] {
  const own = new Set<string | undefined>(flags.flatMap(({ flag, short }) => [flag, short]));
  return GLOBAL_FLAGS.filter(
    ({ flag, short }) =>
      !own.has(flag) &&
      (short === undefined || !own.has(short)) &&
      !(flag === "--json" && own.has("--output")) &&
      !(flag === "--query" && columns === null && !JSON_WITHOUT_COLUMNS.has(name)),
  );
}

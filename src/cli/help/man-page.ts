/** The man page, from the same commands, topics and words as help. */
import type { Command, Option } from "commander";
import { GLOBAL_FLAGS } from "../args/global-flags.ts";
import { loadCommands } from "../program.ts";
import { VERSION } from "../../runtime/version.ts";
import type { FactsBook } from "./command-facts.ts";
import { breakExample, EXIT_MEANINGS, exitsOf, ownOptions, SUMMARY } from "./help-layout.ts";
import { firstWords } from "./root-help.ts";
import { TOPICS } from "./topics.ts";

/** `surveyctl.1`, in the man macros. */
export async function writeManPage(): Promise<string> {
  const { program, facts } = await loadCommands();
  return [
    `.TH SURVEYCTL 1 "" "surveyctl ${VERSION}" "User Commands"`,
    section("NAME", [`surveyctl \\- ${escape(SUMMARY)}`]),
    section("SYNOPSIS", [`.B surveyctl\n${escape("<noun> <verb> [operand] [flags]")}`]),
    section("DESCRIPTION", [atMargin(firstWords())]),
    section(
      "COMMANDS",
      program.commands.flatMap((noun) => commandsOf(noun, ["surveyctl"])).map((entry) => describeCommand(entry, facts)),
    ),
    section(
      "FLAGS OF EVERY COMMAND",
      GLOBAL_FLAGS.map(({ flags, description, choices, default: value, environment }) =>
        item(flags, [
          description,
          choices?.join(", "),
          value && `default ${value}`,
          environment && `env ${environment}`,
        ]),
      ),
    ),
    section(
      "EXIT STATUS",
      Object.entries(EXIT_MEANINGS).map(([status, meaning]) => item(status, [meaning])),
    ),
    ...[...TOPICS]
      .filter(([name]) => name !== "exit-codes")
      .map(([name, text]) => section(name.toUpperCase(), [atMargin(text)])),
    "",
  ].join("\n");
}

/** Of a terminal's 80, what the page's indentation leaves, and the one that help would add. */
const EXAMPLE_WIDTH = 75;

interface Entry {
  readonly words: readonly string[];
  readonly command: Command;
}

/** The command itself, or its verbs. */
function commandsOf(command: Command, above: readonly string[]): Entry[] {
  const words = [...above, command.name()];
  if (command.commands.length === 0) return [{ words, command }];
  return command.commands.filter((sub) => sub.name() !== "help").flatMap((sub) => commandsOf(sub, words));
}

function describeCommand({ words, command }: Entry, facts: FactsBook): string {
  const { examples, operands } = facts.get(command);
  return [
    `.SS "${escape([...words, ...operands].join(" "))}"`,
    escape(command.description()),
    ...command.registeredArguments.map((argument) =>
      item(argument.name(), [argument.description, argument.argChoices?.join(", ")]),
    ),
    ...ownOptions(command).map(describeOption),
    ".PP",
    escape(`Exit statuses: ${exitsOf(command, facts.get(command)).join(", ")}.`),
    verbatim(examples.map((example) => breakExample(example, EXAMPLE_WIDTH)).join("\n")),
  ].join("\n");
}

function describeOption({ flags, description, argChoices, defaultValue }: Option): string {
  const value: unknown = defaultValue;
  const isPlain = typeof value === "string" || typeof value === "number";
  return item(flags, [description, argChoices?.join(", "), isPlain ? `default ${value}` : undefined]);
}

function section(title: string, parts: readonly string[]): string {
  return [`.SH ${title.includes(" ") ? `"${title}"` : title}`, ...parts].join("\n");
}

function item(term: string, words: readonly (string | undefined)[]): string {
  const [description = "", ...notes] = words.filter((word) => word !== undefined && word !== "");
  return `.TP\n.B ${escape(term)}\n${escape(notes.length === 0 ? description : `${description} (${notes.join("; ")})`)}`;
}

/** As it stands, line by line. */
function verbatim(text: string): string {
  return `.PP\n.nf\n${text.trimEnd().split("\n").map(escape).join("\n")}\n.fi`;
}

/** The same for what is already as wide as a terminal: to the next section without the page's indentation. */
function atMargin(text: string): string {
  return `.in 0\n${verbatim(text).replace(/^\.PP\n/, "")}`;
}

/** Text in which roff sees no commands: backslashes, hyphens that must be copied as they are, dots at the start. */
function escape(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^(?=[.'])/, "\\&");
}

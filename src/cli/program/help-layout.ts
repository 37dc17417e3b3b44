/** Help as text: sentence, usage, operands, verbs, flags by group, examples, exit statuses; 80 columns at most. */
import type { Command, Option } from "commander";
import { GLOBAL_FLAGS, type FlagGroup, type GlobalFlag } from "../args/global-flags.ts";
import { EXIT, type ExitCode } from "../exit-codes.ts";
import type { HelpFacts } from "./command-facts.ts";
import type { Noun } from "./nouns.ts";

const WIDTH = 80;
const INDENT = "  ";
const TERM_MAX = 30;

export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.done]: "done",
  [EXIT.failed]: "the network or the service failed, after retries",
  [EXIT.usage]: "usage: a wrong flag, value or input file; nothing was sent",
  [EXIT.partial]: "some rows failed or are unknown; the results file says which",
  [EXIT.auth]: "no connection is configured, or the key was refused",
  [EXIT.refused]: "the service refused the request, or nothing was found",
  [EXIT.assertion]: "an --assert did not hold",
  [EXIT.hungUp]: "stopped by SIGHUP",
  [EXIT.interrupted]: "stopped by SIGINT; what was done is recorded",
  [EXIT.terminated]: "stopped by SIGTERM; what was done is recorded",
};

type Item = readonly [term: string, description: string];

/** The whole help of one command. */
export function layOutHelp(command: Command, facts: HelpFacts): string {
  return join([
    `${sentence(command.description())}\n`,
    section("Usage", [`${INDENT}${usage(command)}\n`]),
    items(
      "Arguments",
      command.registeredArguments.map((argument): Item => [argument.name(), argument.description]),
    ),
    items(
      "Commands",
      command.commands.filter((sub) => sub.name() !== "help").map((sub): Item => [verbTerm(sub), sub.description()]),
    ),
    items("Flags", ownOptions(command).map(optionItem)),
    command.commands.length > 0 ? "" : globalSections(),
    section(
      "Examples",
      facts.examples.map((example) => `${INDENT}${breakExample(example)}\n`),
    ),
    items(
      "Exit statuses",
      exitsOf(command, facts).map((exit): Item => [String(exit), EXIT_MEANINGS[exit]]),
    ),
    command.commands.length > 0 ? `Use "surveyctl ${command.name()} <command> --help" for its flags and examples.\n` : "",
  ]);
}

export const SUMMARY = "The command line for the feedback survey (NPS) API, and the service itself";

/** The help of the program itself, from the table of nouns alone. */
export function layOutRootHelp(nouns: readonly Noun[], summary: string = SUMMARY): string {
  const groups = [...new Set(nouns.map(({ group }) => group))];
  return join([
    `${sentence(summary)}\n`,
    section("Usage", [`${INDENT}surveyctl <noun> <verb> [operand] [flags]\n`]),
    ...groups.map((group) =>
      items(
        group,
        nouns.filter((noun) => noun.group === group).map(({ name, summary: words }): Item => [name, words]),
      ),
    ),
    globalSections(),
    items("Help topics", [["surveyctl help <topic>", "environment, exit-codes, output, dates, import, export"]]),
    section("Examples", [
      `${INDENT}surveyctl people add --email ann@example.com --name Ann\n`,
      `${INDENT}surveyctl people import customers.csv\n`,
      `${INDENT}surveyctl responses export --since 2026-01-01 --out responses.csv\n`,
      `${INDENT}surveyctl metrics --by month\n`,
    ]),
    `Use "surveyctl <noun> --help" for a noun's commands.\n`,
  ]);
}

/** Every command can be called wrongly. */
export function exitsOf(command: Command, { exits }: HelpFacts): readonly ExitCode[] {
  return command.commands.length > 0 ? exits : [...new Set([...exits, EXIT.usage])].toSorted((a, b) => a - b);
}

function join(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function sentence(text: string): string {
  return wrap(text === "" ? "" : `${text[0]?.toUpperCase()}${text.slice(1)}.`, WIDTH).join("\n");
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}:\n${lines.join("")}`;
}

function items(title: string, list: readonly Item[]): string {
  const width = Math.min(TERM_MAX, Math.max(0, ...list.map(([term]) => term.length)));
  return section(
    title,
    list.map((item) => layOutItem(item, width)),
  );
}

function layOutItem([term, description]: Item, width: number): string {
  const lines = wrap(description, WIDTH - INDENT.length * 2 - width);
  const rest = " ".repeat(INDENT.length * 2 + width);
  if (term.length > width) return `${INDENT}${term}\n${lines.map((line) => `${rest}${line}\n`).join("")}`;
  return lines
    .map((line, index) => (index === 0 ? `${INDENT}${term.padEnd(width)}${INDENT}${line}` : `${rest}${line}`).trimEnd() + "\n")
    .join("");
}

function wrap(text: string, width: number): string[] {
  return fill(text.split(" "), width);
}

/** As many pieces on a line as it takes, a blank between them. */
export function fill(pieces: readonly string[], width: number): string[] {
  const lines = [""];
  for (const word of pieces) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

/** A long command line goes on after a backslash, so that it can be copied; a flag stays with its value. */
function breakExample(example: string): string {
  if (example.length + INDENT.length <= WIDTH || example.includes("\n")) return example.replaceAll("\n", `\n${INDENT}`);
  return fill(example.split(/ (?=-|\| )/), WIDTH - INDENT.length * 3 - 2).join(` \\\n${INDENT}${INDENT}${INDENT}`);
}

function usage(command: Command): string {
  const path = [];
  for (let at: Command | null = command; at !== null; at = at.parent) path.unshift(at.name());
  const operands = command.registeredArguments.map((argument) => (argument.required ? `<${argument.name()}>` : `[${argument.name()}]`));
  return [...path, ...(command.commands.length > 0 ? ["<command>"] : operands), "[flags]"].join(" ");
}

function verbTerm(command: Command): string {
  const alias = command.alias();
  return alias === undefined ? command.name() : `${command.name()}, ${alias}`;
}

/** Without those that every command has. */
export function ownOptions(command: Command): readonly Option[] {
  return command.options.filter(({ helpGroupHeading }) => helpGroupHeading === undefined);
}

function optionItem(option: Option): Item {
  const value: unknown = option.defaultValue;
  const shown =
    typeof value === "string" || typeof value === "number" ? [`default ${String(option.defaultValueDescription ?? value)}`] : [];
  const choices = option.argChoices === undefined ? [] : [`one of ${option.argChoices.join(", ")}`];
  return [option.flags, describe(option.description, [...choices, ...shown])];
}

function describe(text: string, notes: readonly string[]): string {
  return notes.length === 0 ? text : `${text} (${notes.join("; ")})`;
}

function globalSections(): string {
  const groups: FlagGroup[] = ["Output", "Connection"];
  return groups.map((group) => items(`${group} flags`, GLOBAL_FLAGS.filter((flag) => flag.group === group).map(globalItem))).join("\n");
}

function globalItem({ flags, description, choices, default: value, environment }: GlobalFlag): Item {
  const notes = [
    ...(choices === undefined ? [] : [choices.join(", ")]),
    ...(value === undefined ? [] : [`default ${value}`]),
    ...(environment === undefined ? [] : [`env ${environment}`]),
  ];
  return [flags, describe(description, notes)];
}

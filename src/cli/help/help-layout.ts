import { capital } from "../../contract/text/capital.ts";
import { type FlagRecord, formOf, notesOf, withNotes } from "../args/flag-record.ts";
import { GLOBAL_SECTIONS } from "../args/global-options.ts";
import { EXIT, EXIT_MEANINGS, type ExitCode } from "../exit-codes.ts";
import type { CommandNode, Operand } from "../kit/command-node.ts";
import type { CommandGroup } from "../program/command-groups.ts";

const WIDEST = 80;
const NARROWEST = 40;
const INDENT = "  ";
const TERM_MAX = 30;
const TERM_SHARE = 0.4;

type Item = readonly [term: string, description: string];

export function layOutHelp(command: CommandNode, words: readonly string[], columns: number): string {
  const width = widthFor(columns);
  const path = ["surveyctl", ...words].join(" ");
  return join([
    `${sentence(command.summary, width)}\n`,
    ...command.about.map((text) => `${text.includes("\n") ? text : wrapped(text, width)}\n`),
    section(
      "Usage",
      usages(command, path).map((usage) => `${INDENT}${usage}\n`),
    ),
    items("Arguments", command.operands.map(operandItem), width),
    items(
      "Commands",
      command.commands.map(({ name, alias, summary }): Item => [alias === null ? name : `${name}, ${alias}`, summary]),
      width,
    ),
    items("Flags", flagItems(command.flags), width),
    section(
      "Examples",
      command.examples.map((example) => `${INDENT}${breakExample(example, width)}\n`),
    ),
    items(
      "Exit statuses",
      exitsOf(command).map((exit): Item => [String(exit), EXIT_MEANINGS[exit]]),
      width,
    ),
    [
      ...(command.commands.length > 0
        ? [`${wrapped(`Use "${path} <command> --help" for its flags and examples.`, width)}\n`]
        : []),
      ...(command.action === null ? [] : ["Global flags: surveyctl help flags\n"]),
    ].join(""),
  ]);
}

export const SUMMARY = "Command line and server for the feedback survey (NPS) API";

const FIRST_STEPS: readonly Item[] = [
  ["surveyctl demo", "run a complete example on this machine"],
  ["surveyctl auth login", "connect to a service you have a key for"],
  ["surveyctl serve", "run a server"],
];

const ROOT_EXAMPLES = [
  "surveyctl people add --email ann@example.com --name Ann",
  "surveyctl people import customers.csv",
  "surveyctl responses export --since 2026-01-01 --out responses.csv",
  "surveyctl metrics --by month",
];

export function layOutRootHelp(commands: readonly CommandGroup[], columns: number): string {
  const width = widthFor(columns);
  const sections = [...new Set(commands.map(({ section: title }) => title))];
  return join([
    `${sentence(SUMMARY, width)}\n`,
    section("Usage", [`${INDENT}surveyctl <command> <subcommand> [arguments] [flags]\n`]),
    ...sections.map((title) =>
      items(
        title,
        commands.filter((command) => command.section === title).map(({ name, summary }): Item => [name, summary]),
        width,
      ),
    ),
    items("Get started", FIRST_STEPS, width),
    items(
      "Help topics",
      [
        [
          "surveyctl help <topic>",
          "flags, data, environment, exit-codes, output, dates, scheduling, import, export, statistics, upgrade",
        ],
      ],
      width,
    ),
    section(
      "Examples",
      ROOT_EXAMPLES.map((example) => `${INDENT}${breakExample(example, width)}\n`),
    ),
    `Use "surveyctl <command> --help" for more about a command.\nGlobal flags: surveyctl help flags\n`,
  ]);
}

function widthFor(columns: number): number {
  return Math.min(WIDEST, Math.max(NARROWEST, columns));
}

/** Any command can fail with a usage error. */
export function exitsOf({ action, exits }: CommandNode): readonly ExitCode[] {
  return action === null ? [] : [...new Set([...exits, EXIT.usage])].toSorted((a, b) => a - b);
}

function join(parts: readonly string[]): string {
  return parts.filter((part) => part !== "").join("\n");
}

function sentence(text: string, width: number): string {
  return text === "" ? "" : wrapped(`${capital(text)}.`, width);
}

function section(title: string, lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${title}:\n${lines.join("")}`;
}

function items(title: string, list: readonly Item[], width: number): string {
  const termMax = Math.min(TERM_MAX, Math.floor(width * TERM_SHARE));
  const termWidth = Math.min(termMax, Math.max(0, ...list.map(([term]) => term.length)));
  return section(
    title,
    list.map((item) => layOutItem(item, termWidth, width)),
  );
}

function layOutItem([term, description]: Item, termWidth: number, width: number): string {
  const lines = fill(description.split(" "), width - INDENT.length * 2 - termWidth);
  const rest = " ".repeat(INDENT.length * 2 + termWidth);
  if (term.length > termWidth) return `${INDENT}${term}\n${lines.map((line) => `${rest}${line}\n`).join("")}`;
  return lines
    .map(
      (line, index) =>
        (index === 0 ? `${INDENT}${term.padEnd(termWidth)}${INDENT}${line}` : `${rest}${line}`).trimEnd() + "\n",
    )
    .join("");
}

function wrapped(text: string, width: number): string {
  return fill(text.split(" "), width).join("\n");
}

function fill(parts: readonly string[], width: number): string[] {
  const lines = [""];
  for (const word of parts) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}

export function breakExample(example: string, width: number): string {
  if (example.length + INDENT.length <= width || example.includes("\n")) return example.replaceAll("\n", `\n${INDENT}`);
  return fill(example.split(/ (?=-|[|>] )/), width - INDENT.length * 3 - 2).join(` \\\n${INDENT}${INDENT}${INDENT}`);
}

function usages({ operands, flagsFirst, action, commands }: CommandNode, path: string): string[] {
  const forms = operands.map(([form]) => form);
  return [
    ...(action === null ? [] : [[path, ...(flagsFirst ? ["[flags]", ...forms] : [...forms, "[flags]"])]]),
    ...(commands.length > 0 ? [[path, "<command>", "[flags]"]] : []),
  ].map((words) => words.join(" "));
}

const DATA_NAMES: ReadonlySet<string> = new Set(["--data", "--database", "--database-file", "--insecure-database"]);

const RARE_NAMES: ReadonlySet<string> = new Set(["--explain-change", "--per-page"]);

function flagItems(flags: readonly FlagRecord[]): Item[] {
  const data = flags.filter(({ flag }) => DATA_NAMES.has(flag));
  const isFolded = data.length === DATA_NAMES.size;
  const own = isFolded ? flags.filter((flag) => !data.includes(flag)) : flags;
  const rare = own.filter(({ flag }) => RARE_NAMES.has(flag));
  return [
    ...own.filter((flag) => !rare.includes(flag)).map(flagItem),
    ...(isFolded ? [["--data, --database …", "data file or database: see surveyctl help data"] as const] : []),
    ...rare.map(flagItem),
  ];
}

export function dataSection(flags: readonly FlagRecord[], width: number): string {
  return items("Flags", flags.map(flagItem), width);
}

export function flagItem(flag: FlagRecord): Item {
  return [formOf(flag), withNotes(flag.text, notesOf(flag))];
}

export function operandItem([form, text, choices = []]: Operand): Item {
  return [operandName(form), withNotes(text, notesOf({ choices }))];
}

export function operandName(form: Operand[0]): string {
  return form.slice(1, -1);
}

export function globalSections(width: number): string {
  return Object.entries(GLOBAL_SECTIONS)
    .map(([title, flags]) => items(`${title} flags`, flags.map(flagItem), width))
    .join("\n");
}

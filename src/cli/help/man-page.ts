import { GLOBAL_FLAGS } from "../args/global-options.ts";
import { VERSION } from "../../runtime/version.ts";
import { EXIT_MEANINGS } from "../exit-codes.ts";
import type { CommandNode } from "../kit/command-node.ts";
import { loadGroups } from "../program/command-groups.ts";
import { breakExample, exitsOf, flagItem, operandItem, SUMMARY } from "./help-layout.ts";
import { TOPICS } from "./topics.ts";

export async function writeManPage(): Promise<string> {
  const groups = await loadGroups();
  return [
    `.TH SURVEYCTL 1 "" "surveyctl ${VERSION}" "User Commands"`,
    section("NAME", [`surveyctl \\- ${escape(SUMMARY)}`]),
    section("SYNOPSIS", [`.B surveyctl\n${escape("<command> <subcommand> [arguments] [flags]")}`]),
    section("DESCRIPTION", [escape(DESCRIPTION)]),
    section(
      "COMMANDS",
      groups.flatMap((group) => describeCommands(group, ["surveyctl"])),
    ),
    section("GLOBAL FLAGS", GLOBAL_FLAGS.map(flagItem).map(item)),
    section("EXIT STATUS", Object.entries(EXIT_MEANINGS).map(item)),
    ...[...TOPICS]
      .filter(([name]) => !["flags", "exit-codes"].includes(name))
      .map(([name, text]) => section(name.toUpperCase(), [verbatim(text)])),
    section("FILES", FILES.map(item)),
    section("SEE ALSO", [".BR curl (1),\n.BR jq (1),\n.BR crontab (5)"]),
    "",
  ].join("\n");
}

const DESCRIPTION =
  "surveyctl sends customer surveys by e-mail or text message and measures the Net Promoter Score (NPS). " +
  "It works with any service that implements the feedback survey API, and includes one (surveyctl serve). " +
  'Start with "surveyctl demo", or save a connection with "surveyctl auth login".';

const FILES: readonly (readonly [file: string, what: string])[] = [
  ["~/.config/surveyctl/config.json", "saved connections, readable only by you; in XDG_CONFIG_HOME if that is set"],
  ["~/.local/share/surveyctl/local.db", 'data file of the profile "local"; in XDG_DATA_HOME if that is set'],
  ["survey.db, outbox/", "a server's data file, and messages that were not sent"],
  ["<file>.<command>.results.csv", "outcome of every row of an import, next to its file"],
];

const EXAMPLE_WIDTH = 75;

function describeCommands(command: CommandNode, above: readonly string[]): string[] {
  const words = [...above, command.name];
  const below = command.commands.flatMap((sub) => describeCommands(sub, words));
  return command.action === null ? below : [describeCommand(command, words), ...below];
}

function describeCommand(command: CommandNode, words: readonly string[]): string {
  const { summary, examples, operands, flags } = command;
  return [
    `.SS "${escape([...words, ...operands.map(([form]) => form)].join(" "))}"`,
    escape(summary),
    ...operands.map(operandItem).map(item),
    ...flags.map(flagItem).map(item),
    ".PP",
    escape(`Exit statuses: ${exitsOf(command).join(", ")}.`),
    verbatim(examples.map((example) => breakExample(example, EXAMPLE_WIDTH)).join("\n")),
  ].join("\n");
}

function section(title: string, parts: readonly string[]): string {
  return [`.SH ${title.includes(" ") ? `"${title}"` : title}`, ...parts].join("\n");
}

function item([term, text]: readonly [term: string, text: string]): string {
  return `.TP\n.B ${escape(term)}\n${escape(text)}`;
}

function verbatim(text: string): string {
  return `.PP\n.nf\n${text.trimEnd().split("\n").map(escape).join("\n")}\n.fi`;
}

function escape(text: string): string {
  return text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll('"', "\\(dq")
    .replace(/^(?=[.'])/, "\\&");
}

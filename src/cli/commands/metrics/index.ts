import type { Command } from "commander";
import { METRIC_GROUPS } from "../../../contract/routes.ts";
import { PERIOD_UNITS } from "../../args/calendar.ts";
import { parseChoice, parseChoices } from "../../args/choice.ts";
import type { Flags } from "../../args/flags.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT } from "../../exit-codes.ts";
import { choiceOption, choicesOption } from "../../command/choice-option.ts";
import { collect, type CommandContext } from "../../command/command-context.ts";
import { addRangeFlags, readRange } from "../../command/time-flags.ts";
import { parseAssertion } from "./assertions.ts";
import { runMetrics, type MetricsOptions } from "./show.ts";

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: [
      "surveyctl metrics --since 30d",
      "surveyctl metrics --by month --compare previous",
      "surveyctl metrics --since 7d --assert 'nps>=40' --quiet",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.assertion],
  });
  addRangeFlags(noun, "answered")
    .option("--trend <id>", "only the responses of a trend")
    .addOption(choicesOption("--group <groups>", "metric groups (default: core)", METRIC_GROUPS))
    .addOption(choiceOption("--by <period>", "one row per period (default: the last 12 or so)", PERIOD_UNITS))
    .addOption(choiceOption("--compare <what>", "add the change from the period before", ["previous"]))
    .option("--assert <condition>", "exit 6 unless it holds, as in 'nps>=40'; repeatable", collect, []);
  context.action(noun, (deps, flags) => runMetrics(deps, readOptions(deps, flags)));
}

function readOptions(deps: Deps, flags: Flags): MetricsOptions {
  const groups = parseChoices(flags.all("--group"), "--group", METRIC_GROUPS);
  return {
    ...readRange(deps, flags),
    trend: flags.text("--trend"),
    groups: groups.length === 0 ? null : groups,
    by: flags.parse("--by", (text, place) => parseChoice(text, place, PERIOD_UNITS)),
    compare: flags.parse("--compare", (text, place) => parseChoice(text, place, ["previous"])) !== null,
    assertions: flags.all("--assert").map(parseAssertion),
  };
}

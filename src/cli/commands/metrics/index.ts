import type { Command } from "commander";
import { METRIC_GROUPS } from "../../../contract/routes.ts";
import { PERIOD_UNITS } from "../../args/calendar.ts";
import { parseChoice, parseChoices } from "../../args/values.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { METRICS } from "../../render/resources.ts";
import { parseAssertion } from "./assertions.ts";
import { type MetricsOptions, runMetrics } from "./run.ts";
import { CONFIDENCE_FLAG, readConfidence } from "./statistics.ts";

const FLAGS: readonly FlagRecord[] = [
  ...rangeFlags("answered"),
  { flag: "--trend", value: "id", text: "only the responses of a trend" },
  {
    flag: "--group",
    value: "groups",
    text: "metric groups",
    repeatable: true,
    choices: METRIC_GROUPS,
    otherwise: "core",
  },
  {
    flag: "--by",
    value: "period",
    text: "one row per period",
    choices: PERIOD_UNITS,
    otherwise: "the last 12 or so",
  },
  { flag: "--compare", value: "what", text: "add the change from the period before", choices: ["previous"] },
  CONFIDENCE_FLAG,
  {
    flag: "--assert",
    value: "condition",
    text: "exit 6 unless it holds, as in 'nps>=40'",
    repeatable: true,
  },
  { flag: "--raw", text: "the API's answer, unchanged" },
];

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: [
      "surveyctl metrics --since 30d",
      "surveyctl metrics --by month --compare previous",
      "surveyctl metrics --since 7d --assert 'nps>=40' --quiet",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.assertion],
    flags: FLAGS,
    columns: METRICS,
  });
  context.action(noun, startMetrics);
}

/** Which of its shapes `metrics` takes: the flag that asks for one, and the flags that mean nothing there. */
const SHAPES = [["--raw", ["--by", "--compare"]]] as const;

async function startMetrics(deps: Deps, flags: Flags): Promise<ExitCode> {
  for (const [flag, others] of SHAPES) if (isGiven(flags, flag)) refuseWith(flags, flag, others);
  return runMetrics(deps, readOptions(deps, flags));
}

function isGiven(flags: Flags, flag: string): boolean {
  return flags.is(flag) || flags.text(flag) !== null || flags.all(flag).length > 0;
}

function refuseWith(flags: Flags, flag: string, others: readonly string[]): void {
  const other = others.find((name) => isGiven(flags, name));
  if (other !== undefined) throw new UsageError(`${flag} and ${other} cannot be used together`);
}

function readOptions(deps: Deps, flags: Flags): MetricsOptions {
  const groups = parseChoices(flags.all("--group"), "--group", METRIC_GROUPS);
  return {
    ...readRange(deps, flags),
    trend: flags.text("--trend"),
    groups: groups.length === 0 ? null : groups,
    by: flags.parse("--by", (text, place) => parseChoice(text, place, PERIOD_UNITS)),
    compare: flags.parse("--compare", (text, place) => parseChoice(text, place, ["previous"])) !== null,
    confidence: readConfidence(flags),
    assertions: flags.all("--assert").map(parseAssertion),
    raw: flags.is("--raw"),
  };
}

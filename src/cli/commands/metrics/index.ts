import type { Command } from "commander";
import { METRIC_GROUPS } from "../../../contract/routes.ts";
import { FEW_ANSWERS } from "../../../insight/interval.ts";
import { PERIOD_UNITS } from "../../../runtime/calendar/periods.ts";
import { parseChoice, parseChoices, parseInteger, parseName, parseNames } from "../../args/values.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import type { Deps } from "../../command/deps.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { CommandContext } from "../../command/command-context.ts";
import { rangeFlags, readRange } from "../../command/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { createPageFilter, ROW_FILTERS } from "../shared/row-filters.ts";
import { parseAssertion } from "./assertions.ts";
import type { ResponseChoice } from "./count-metrics.ts";
import { ALL_METRICS } from "./metrics-resource.ts";
import { type MetricsOptions, runMetrics } from "./run.ts";
import type { SegmentsOptions } from "./segments.ts";
import { CONFIDENCE_FLAG, readConfidence } from "./statistics.ts";

const MIN_N_DEFAULT = FEW_ANSWERS;

const FLAGS: readonly FlagRecord[] = [
  ...rangeFlags("answered"),
  { flag: "--trend", value: "id", text: "only responses of this trend" },
  ...ROW_FILTERS.records,
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
    text: "one row per period; without --since, about the last 12",
    choices: PERIOD_UNITS,
  },
  { flag: "--compare", value: "what", text: "add the change from the period before", choices: ["previous"] },
  CONFIDENCE_FLAG,
  {
    flag: "--assert",
    value: "condition",
    text: "exit 6 unless this holds, such as 'nps>=40'",
    repeatable: true,
  },
  { flag: "--raw", text: "print the API's answer unchanged" },
  { flag: "--histogram", text: "show how often each score from 0 to 10 was given" },
  { flag: "--segment", value: "names", text: "one row per value of these properties", repeatable: true },
  {
    flag: "--min-n",
    value: "n",
    text: "minimum number of answers for a value to have a row",
    otherwise: `${MIN_N_DEFAULT}`,
  },
  { flag: "--explain-change", text: "split a segment's change into mix and within" },
];

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: [
      "surveyctl metrics --since 30d",
      "surveyctl metrics --by month --compare previous",
      "surveyctl metrics --since 7d --assert 'nps_high>=40' --quiet",
      "surveyctl metrics --segment plan,region --since 90d --compare previous",
      "surveyctl metrics --property plan=pro --by month",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.assertion],
    flags: FLAGS,
    columns: ALL_METRICS,
  });
  context.action(noun, startMetrics);
}

const CHOICES = ROW_FILTERS.records.map(({ flag }) => flag);

/** Null where every response counts. */
function readChoice(deps: Deps, flags: Flags): ResponseChoice | null {
  const filters = ROW_FILTERS.read(flags, deps);
  const filterPage = createPageFilter(filters);
  if (filterPage === null) return null;
  const words = CHOICES.flatMap((flag) => {
    const name = flag.slice("--".length);
    const values = [flags.text(flag) ?? [], flags.all(flag)].flat();
    return flags.is(flag) ? [name] : values.map((value) => `${name} ${value}`);
  });
  return { filterPage, conditions: filters.properties, words: words.join(", ") };
}

/** The flags that ask for a shape of `metrics`, and the others that mean nothing there. */
const SHAPES: readonly (readonly [flag: string, others: readonly string[]])[] = [
  ["--segment", ["--by", "--group", "--assert", "--raw", "--histogram"]],
  ["--histogram", ["--by", "--compare", "--confidence", "--group", "--assert", "--raw"]],
  ["--raw", ["--by", "--compare", "--confidence", ...CHOICES]],
  ["--group", CHOICES],
];
const NEEDS: readonly (readonly [flag: string, needed: string])[] = [
  ["--min-n", "--segment"],
  ["--explain-change", "--segment"],
  ["--explain-change", "--compare"],
];

async function startMetrics(deps: Deps, flags: Flags): Promise<ExitCode> {
  for (const [flag, others] of SHAPES) if (isGiven(flags, flag)) refuseWith(flags, flag, others);
  for (const [flag, needed] of NEEDS)
    if (isGiven(flags, flag) && !isGiven(flags, needed)) throw new UsageError(`${flag} requires ${needed}`);
  if (isGiven(flags, "--histogram")) {
    const { runHistogram } = await import("./histogram.ts");
    return runHistogram(deps, {
      ...readRange(deps, flags),
      trend: flags.parse("--trend", parseName),
      choice: readChoice(deps, flags),
    });
  }
  if (!isGiven(flags, "--segment")) return runMetrics(deps, readOptions(deps, flags));
  const options = readSegments(deps, flags);
  const { runSegments } = await import("./segments.ts");
  return runSegments(deps, options);
}

function readSegments(deps: Deps, flags: Flags): SegmentsOptions {
  const { since, until, trend, choice, compare, confidence } = readOptions(deps, flags);
  const properties = [...new Set(parseNames(flags.all("--segment"), "--segment"))];
  const explain = flags.is("--explain-change");
  if (compare && since === null) throw new UsageError("--compare previous requires --since");
  if (explain && properties.length > 1)
    throw new UsageError("--explain-change splits by one property; give --segment one name");
  const minN = flags.parse("--min-n", (text, place) => parseInteger(text, place, { min: 1 })) ?? MIN_N_DEFAULT;
  return { since, until, trend, choice, compare, confidence, properties, minN, explain };
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
    trend: flags.parse("--trend", parseName),
    groups: groups.length === 0 ? null : groups,
    choice: readChoice(deps, flags),
    by: flags.parse("--by", (text, place) => parseChoice(text, place, PERIOD_UNITS)),
    compare: flags.parse("--compare", (text, place) => parseChoice(text, place, ["previous"])) !== null,
    confidence: readConfidence(flags),
    assertions: flags.all("--assert").map(parseAssertion),
    raw: flags.is("--raw"),
  };
}

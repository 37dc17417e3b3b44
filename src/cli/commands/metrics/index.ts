import type { Flags } from "../../args/flags.ts";
import { type OutputFormat, outputFlags, readOutput } from "../../args/global-options.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { METRIC_GROUPS } from "../../../contract/routes.ts";
import { CONFIDENCE_DEFAULT, FEW_ANSWERS } from "../../../insight/interval.ts";
import { PERIOD_UNITS } from "../../../runtime/calendar/periods.ts";
import { parseChoices, parseCount } from "../../args/values.ts";
import { timeRange } from "../../kit/time-flags.ts";
import { EXIT } from "../../exit-codes.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { type FlagGroup, listFlag } from "../../kit/flag-spec.ts";
import { createPageFilter, ROW_FILTERS, TREND } from "../shared/row-filters.ts";
import type { ResponseChoice } from "../shared/read-responses.ts";
import { segmentFlag } from "../shared/segment-tally.ts";
import { parseAssertion } from "./assertions.ts";
import { ALL_METRICS } from "./metrics-resource.ts";
import { showMetrics } from "./show-metrics.ts";
import { parseConfidence } from "./statistics.ts";

const CHOICES = ROW_FILTERS.records.map(({ flag }) => flag);

const CHOICE: FlagGroup<Promise<ResponseChoice | null>> = {
  records: ROW_FILTERS.records,
  async read(flags, deps) {
    const filters = await ROW_FILTERS.read(flags, deps);
    const filterPage = createPageFilter(filters);
    const words = CHOICES.flatMap((flag) => {
      const name = flag.slice("--".length);
      const values = [flags.text(flag) ?? [], flags.all(flag)].flat();
      return flags.is(flag) ? [name] : values.map((value) => `${name} ${value}`);
    });
    return filterPage === null ? null : { filterPage, conditions: filters.properties, words: words.join(", ") };
  },
};

const OUTPUT: FlagGroup<OutputFormat | "svg" | null> = {
  records: outputFlags("svg", "output format; svg draws the report's chart of --by or --segment"),
  read(flags, { env }) {
    const output = readOutput(flags, env, "svg");
    if (output === "svg") checkChart(flags);
    return output;
  },
};

/** The chart shows the rows of `--by` or `--segment` at the default confidence. Throws UsageError. */
function checkChart(flags: Flags): void {
  if (!flags.has("--by") && !flags.has("--segment")) throw new UsageError("-o svg requires --by or --segment");
  const other =
    ["--compare", "--explain-change", "--raw", "--columns"].find((flag) => flags.has(flag)) ??
    (Number(flags.text("--confidence")) === CONFIDENCE_DEFAULT ? null : "--confidence");
  if (other !== null) throw new UsageError(`-o svg and ${other} cannot be used together`);
}

const metrics = defineCommand({
  examples: [
    "surveyctl metrics --since 30d",
    "surveyctl metrics --by month --compare previous",
    "surveyctl metrics --since 7d --assert 'nps_high>=40' --quiet",
    "surveyctl metrics --segment plan,region --since 90d --compare previous",
    "surveyctl metrics --property plan=pro --by month",
    "surveyctl metrics --moves --since 90d",
    "surveyctl metrics --by month -o svg > nps.svg",
  ],
  flags: {
    output: OUTPUT,
    range: timeRange("answered"),
    trend: TREND,
    choice: CHOICE,
    groups: listFlag(
      { flag: "--group", value: "groups", text: "metric groups", choices: METRIC_GROUPS, otherwise: "core" },
      (texts, place) => parseChoices(texts, place, METRIC_GROUPS),
    ),
    by: { value: "period", text: "one row per period; without --since, about the last 12", choices: PERIOD_UNITS },
    compare: { value: "what", text: "add the change from the previous period", choices: ["previous"] },
    confidence: {
      value: "share",
      text: "confidence of intervals and verdicts, between 0 and 1",
      default: String(CONFIDENCE_DEFAULT),
      parse: parseConfidence,
    },
    assert: {
      value: "condition",
      text: "exit with 6 unless this is true, such as 'nps>=40'",
      repeatable: true,
      parse: parseAssertion,
    },
    raw: { text: "print the API's response unchanged" },
    histogram: { text: "show how often each score from 0 to 10 was given" },
    moves: { text: "count people by their last answer and the one before: promoters who became detractors, and so on" },
    segments: segmentFlag("one row per value of these properties"),
    minN: {
      value: "n",
      text: "minimum number of answers for a value to have a row",
      default: `${FEW_ANSWERS}`,
      requires: ["--segment"],
      parse: parseCount,
    },
    explainChange: {
      text: "split a segment's change into mix and within (see help statistics)",
      requires: ["--segment"],
    },
  },
  conflicts: [
    ["--segment", "--by", "--group", "--assert", "--raw", "--histogram"],
    ["--histogram", "--by", "--compare", "--confidence", "--group", "--assert", "--raw"],
    ["--raw", "--by", "--compare", "--confidence", "--columns", ...CHOICES],
    ["--group", ...CHOICES],
    ["--moves", "--by", "--compare", "--confidence", "--group", "--assert", "--raw", "--histogram"],
    ["--moves", "--segment", "--trend", ...CHOICES],
  ],
  columns: ALL_METRICS,
  columnsVary: true,
  exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused, EXIT.assertion],
  async run(given, { output, range, trend, choice, histogram, moves, segments, explainChange: explain, ...input }) {
    const isChart = output === "svg";
    const deps = output === null || isChart ? given : { ...given, options: { ...given.options, output } };
    if (moves) {
      const { showMoves } = await import("./moves.ts");
      return showMoves(deps, range);
    }
    if (histogram) {
      const { showHistogram } = await import("./histogram.ts");
      return showHistogram(deps, range, trend, choice);
    }
    const { groups, by, assert: assertions, raw, confidence, minN } = input;
    const shared = { range, trend, choice, compare: input.compare !== null, confidence, isChart };
    if (segments === null) return showMetrics(deps, { ...shared, groups, by, assertions, raw });
    const { showSegments } = await import("./segments.ts");
    return showSegments(deps, { ...shared, properties: segments, minN, explain });
  },
});

export const commands = [metrics];

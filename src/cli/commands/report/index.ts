import type { Command } from "commander";
import { unixSeconds } from "../../../runtime/clock.ts";
import { PERIOD_UNITS } from "../../../runtime/calendar/periods.ts";
import { systemZone } from "../../../runtime/zone.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import { parseChoice, parseName, parseNames, parseOutputFile } from "../../args/values.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Deps } from "../../command/deps.ts";
import { RANGE_FLAGS, rangeFlags, readRange, readTime } from "../../command/time-flags.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import type { TypedRequest } from "./complete-request.ts";

export const AS_OF_FLAG: FlagRecord = {
  flag: "--as-of",
  value: "time",
  text: "count only answers up to this time, and relative times from it",
  otherwise: "now",
};

const FLAGS: readonly FlagRecord[] = [
  { flag: "--out", value: "file", text: "write to a file, atomically; required" },
  ...rangeFlags("answered"),
  AS_OF_FLAG,
  { flag: "--by", value: "period", text: "a score for each period", choices: PERIOD_UNITS, otherwise: "as suits" },
  { flag: "--segment", value: "names", text: "a chart for each of these properties", repeatable: true },
  { flag: "--trend", value: "id", text: "only responses of this trend" },
  { flag: "--title", value: "text", text: "heading of the report", otherwise: "brand and project" },
  { flag: "--links", text: "link each comment to its page; anybody with the report can open it, for 30 days" },
  { flag: "--show-personal-data", text: "do not mask personal data in comments; show who wrote them" },
];

export function register(noun: Command, context: CommandContext): void {
  context.describe(noun, {
    examples: [
      "surveyctl report --out nps.html",
      "surveyctl report --out nps.html --period last-month --segment plan,region",
    ],
    exits: [EXIT.done, EXIT.failed, EXIT.auth, EXIT.refused],
    flags: FLAGS,
  });
  context.action(noun, startReport);
}

async function startReport(deps: Deps, flags: Flags): Promise<ExitCode> {
  if (flags.text("--output") !== null || flags.is("--json") || deps.options.columns !== null)
    throw new UsageError("report writes HTML; --output and --columns cannot change it");
  const out = flags.parse("--out", parseOutputFile);
  if (out === null) throw new UsageError("--out FILE is required", { hint: "as in: surveyctl report --out nps.html" });
  const request = readRequest(deps, flags);
  const { runReport } = await import("./write-report.ts");
  return runReport(deps, { file: out, request });
}

/** Times such as 7d count from `--as-of`. Throws UsageError. */
export function readRequest(deps: Deps, flags: Flags): TypedRequest {
  const asOf = readTime(deps, flags, "--as-of", "last") ?? unixSeconds(deps.clock);
  const then = { ...deps, clock: { ...deps.clock, now: () => asOf * 1000 } };
  return {
    ...readRange(then, flags, { ...RANGE_FLAGS, asOf: "--as-of" }),
    asOf,
    by: flags.parse("--by", (text, place) => parseChoice(text, place, PERIOD_UNITS)),
    zone: deps.options.timeZone ?? systemZone(),
    segments: [...new Set(parseNames(flags.all("--segment"), "--segment"))],
    trend: flags.parse("--trend", parseName),
    title: flags.text("--title"),
    personal: deps.options.showPersonalData,
    links: flags.is("--links"),
  };
}

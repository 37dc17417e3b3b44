import { PERIOD_UNITS } from "../../../runtime/calendar/periods.ts";
import { systemZone } from "../../../runtime/zone.ts";
import { parseOutputFile } from "../../args/values.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import type { FlagGroup } from "../../kit/flag-spec.ts";
import { TREND } from "../shared/row-filters.ts";
import { segmentFlag } from "../shared/segment-tally.ts";
import { pastRange } from "./past-range.ts";

const HTML_ONLY: FlagGroup<void> = {
  records: [],
  read(flags) {
    if (flags.has("--output") || flags.has("--json") || flags.has("--columns"))
      throw new UsageError("report writes HTML; --output and --columns cannot change it");
  },
};

const report = defineCommand({
  examples: [
    "surveyctl report --out nps.html",
    "surveyctl report --out nps.html --period last-month --segment plan,region",
  ],
  flags: {
    html: HTML_ONLY,
    out: { value: "file", text: "write to a file, atomically", required: true, parse: parseOutputFile },
    range: pastRange(),
    by: {
      value: "period",
      text: "show a score for each period",
      choices: PERIOD_UNITS,
      otherwise: "chosen from the range",
    },
    segments: segmentFlag("a chart for each of these properties"),
    trend: TREND,
    title: { value: "text", text: "heading of the report", otherwise: "brand and project" },
    links: { text: "link each comment to its response; for 30 days, anyone with the report can open it" },
    showPersonalData: { text: "show who wrote comments, and do not mask personal data in them" },
  },
  async run(deps, { out, range, by, segments, trend, title, links, showPersonalData: personal }) {
    const zone = deps.options.timeZone ?? systemZone();
    const { writeReport } = await import("./write-report.ts");
    return writeReport(deps, out, { ...range, by, zone, segments: segments ?? [], trend, title, personal, links });
  },
});

export const commands = [report];

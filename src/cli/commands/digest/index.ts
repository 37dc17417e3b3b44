import { systemZone } from "../../../runtime/zone.ts";
import { parseEmail } from "../../args/people.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineCommand } from "../../kit/define-command.ts";
import { pastRange } from "../report/past-range.ts";
import { TREND } from "../shared/row-filters.ts";

const WEEK_SECONDS = 7 * 86_400;
const SENDER = "nps-digest@localhost";

const digest = defineCommand({
  examples: [
    "surveyctl digest",
    "surveyctl digest --since 30d -o html > digest.html",
    "surveyctl digest -o eml --to team@example.com | sendmail -t",
  ],
  flags: {
    output: {
      short: "-o",
      value: "format",
      text: "format of the message",
      choices: ["text", "html", "eml", "slack"],
      default: "text",
    },
    range: pastRange("7d"),
    trend: TREND,
    title: { value: "text", text: "heading and subject", otherwise: "brand and project" },
    to: { value: "email", text: "eml: recipient", repeatable: true, parse: parseEmail },
    from: { value: "email", text: "eml: sender", otherwise: SENDER, parse: parseEmail },
  },
  async run(deps, { output: format, range, trend, title, to, from }) {
    const { options } = deps;
    if (options.columns !== null) throw new UsageError("digest is a message; --columns cannot change it");
    const other = to.length > 0 ? "--to" : from === null ? null : "--from";
    if (format !== "eml" && other !== null) throw new UsageError(`${other} requires -o eml`);
    const since = range.since ?? Math.min(range.until ?? range.asOf, range.asOf) - WEEK_SECONDS;
    const { writeDigest } = await import("./write-digest.ts");
    // Comments are redacted in every format, because a message reaches more people than intended.
    const own = { by: null, segments: [], personal: false, links: false };
    const request = { ...range, ...own, since, trend, title, zone: options.timeZone ?? systemZone() };
    return writeDigest(deps, request, format, { from: from ?? SENDER, to });
  },
});

export const commands = [digest];

import type { Command } from "commander";
import { badValue, INTERVAL_FORM, readInterval } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";
import { THROTTLE } from "../service-resources.ts";

/** Seconds of `90d`; null of `off`. Throws UsageError. */
function parseThrottle(text: string): number | null {
  if (text === "off") return null;
  const seconds = readInterval(text);
  if (seconds === null) throw badValue("<interval>", text, `${INTERVAL_FORM}, or off`);
  return seconds;
}

export function registerThrottle(parent: Command, context: CommandContext): void {
  projectVerb(context, parent, {
    kind: "throttle",
    name: "throttle",
    summary: "set or show the minimum time between two surveys to one person",
    operands: [["[interval]", "a duration such as 90d, or off; omit to show the current one"]],
    examples: ["surveyctl service throttle 90d --data survey.db", "surveyctl service throttle off --project acme"],
    columns: THROTTLE,
    details: ({ operands: [interval] }) => (interval === undefined ? {} : { seconds: parseThrottle(interval) }),
  });
}

import { INTERVAL_FORM, readInterval } from "../../../../contract/text/duration.ts";
import { badValue } from "../../../args/values.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../service-resources.ts";

export const throttle = serviceCommand({
  operation: "throttle",
  summary: "set or show the minimum time between two surveys to one person",
  examples: ["surveyctl service throttle 90d --data survey.db", "surveyctl service throttle off --project acme"],
  args: {
    interval: {
      form: "[interval]",
      text: "a duration such as 90d, or off; omit to show the current one",
      parse: parseThrottle,
    },
  },
  columns: toResource("settings", { throttle: "duration" }),
});

/** Throws UsageError. */
function parseThrottle(text: string): number | "off" {
  if (text === "off") return "off";
  const seconds = readInterval(text);
  if (seconds === null) throw badValue("<interval>", text, `${INTERVAL_FORM}, or off`);
  return seconds;
}

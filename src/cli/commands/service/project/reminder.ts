import { CHANNELS } from "../../../../contract/routes.ts";
import { readDuration } from "../../../../contract/text/duration.ts";
import { badValue } from "../../../args/values.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../service-resources.ts";

export const reminder = serviceCommand({
  operation: "reminder",
  summary: "set or show when people who have not answered are reminded, once for each survey",
  examples: ["surveyctl service reminder 5d --data survey.db", "surveyctl service reminder off --project acme"],
  args: {
    after: {
      form: "[after]",
      text: "a duration after the survey, from 1h to 30d, or off; omit to show the current one",
      parse: parseAfter,
    },
  },
  flags: {
    channel: {
      flag: "--channel",
      value: "channel",
      text: "surveys that a reminder follows",
      choices: ["any", ...CHANNELS],
    },
  },
  columns: toResource("settings", { after_seconds: "number", channel: "text" }),
});

/** Throws UsageError. */
async function parseAfter(text: string): Promise<number | "off"> {
  if (text === "off") return "off";
  const { isReminderTime } = await import("../../../../service/domain/delivery/reminders.ts");
  const seconds = readDuration(text);
  if (seconds === null || !isReminderTime(seconds))
    throw badValue("<after>", text, "a duration from 1h to 30d such as 5d, or off");
  return seconds;
}

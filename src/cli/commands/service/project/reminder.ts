import type { Command } from "commander";
import { isReminderTime, REMINDER_CHANNELS } from "../../../../service/domain/delivery/reminders.ts";
import { badValue, parseChoice, readDuration } from "../../../args/values.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import { projectVerb } from "../project-verb.ts";
import { REMINDER } from "../service-resources.ts";

/** Seconds of `5d`; null of `off`. Throws UsageError. */
function parseAfter(text: string): number | null {
  if (text === "off") return null;
  const seconds = readDuration(text);
  if (seconds === null || !isReminderTime(seconds))
    throw badValue("<after>", text, "a duration from 1h to 30d such as 5d, or off");
  return seconds;
}

export function registerReminder(parent: Command, context: CommandContext): void {
  projectVerb(context, parent, {
    kind: "reminder",
    name: "reminder",
    summary: "set or show when people who have not answered are reminded, once for each survey",
    operands: [["[after]", "a duration after the survey, from 1h to 30d, or off; omit to show the current one"]],
    examples: ["surveyctl service reminder 5d --data survey.db", "surveyctl service reminder off --project acme"],
    flags: [
      { flag: "--channel", value: "channel", text: "surveys that a reminder follows", choices: REMINDER_CHANNELS },
    ],
    columns: REMINDER,
    details: ({ flags, operands: [after] }) => {
      const channel = flags.parse("--channel", (text, flag) => parseChoice(text, flag, REMINDER_CHANNELS));
      return {
        ...(after === undefined ? {} : { after: parseAfter(after) }),
        ...(channel === null ? {} : { channel }),
      };
    },
  });
}

import type { Command } from "commander";
import { DURATION_MAX } from "../../../../contract/limits.ts";
import { PLATFORMS } from "../../../../contract/resources.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import { badValue, INTERVAL_FORM, parseChoice, readInterval } from "../../../args/values.ts";
import type { Flags } from "../../../args/flags.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import type { CommandContext } from "../../../command/command-context.ts";
import type { AutopilotChange } from "../../../../service/domain/surveys/autopilot.ts";
import { DAYS_FORM, HOURS_FORM, parseDays, parseHours } from "../../../../service/domain/surveys/windows.ts";
import { projectVerb } from "../project-verb.ts";
import { PLATFORM_SETTINGS } from "../service-resources.ts";

const FIRST = ["spread", "now"] as const;

/** The change to make; nothing shows it. Throws UsageError. */
function readChange(flags: Flags): AutopilotChange {
  const [starts, stops] = [flags.is("--active"), flags.is("--inactive")];
  if (starts && stops) throw new UsageError("--active and --inactive cannot be used together");
  const frequency = flags.parse("--frequency", parseInterval);
  return {
    active: starts || stops ? starts : undefined,
    frequency: frequency ?? undefined,
    first: flags.parse("--first", (text, flag) => parseChoice(text, flag, FIRST)) ?? undefined,
    days: flags.parse("--days", checked(parseDays, DAYS_FORM)) ?? undefined,
    hours: flags.parse("--hours", checked(parseHours, HOURS_FORM)) ?? undefined,
  };
}

/** Throws UsageError. */
function parseInterval(text: string, flag: string): number {
  const seconds = readInterval(text);
  if (seconds === null) throw badValue(flag, text, INTERVAL_FORM);
  if (seconds >= 1 && seconds <= DURATION_MAX) return seconds;
  throw new UsageError(`${flag}: must be from 1 second to 100 years (got ${quoteText(text)})`, {
    hint: "a day is 1d; use --inactive to stop the surveys",
  });
}

/** The text itself, once it can be read. */
function checked(read: (text: string) => unknown, form: string): (text: string, flag: string) => string {
  return (text, flag) => {
    if (read(text) === null) throw new UsageError(`${flag}: ${form}`);
    return text;
  };
}

export function registerAutopilot(parent: Command, context: CommandContext): void {
  projectVerb(context, parent, {
    kind: "autopilot",
    name: "autopilot",
    summary: "set or show Autopilot for one platform",
    examples: [
      "surveyctl service autopilot --platform email --active --frequency 90d --data survey.db",
      "surveyctl service autopilot --days mon-fri --hours 8-11 --first spread",
      "surveyctl service autopilot --platform sms --inactive",
    ],
    flags: [
      { flag: "--platform", value: "platform", text: "how surveys are sent", choices: PLATFORMS, default: "email" },
      { flag: "--active", text: "send surveys" },
      { flag: "--inactive", text: "send nothing, but keep the members" },
      { flag: "--frequency", value: "duration", text: "time between two surveys of a person, such as 90d" },
      { flag: "--first", value: "when", text: "spread first surveys over one interval, or send now", choices: FIRST },
      { flag: "--days", value: "days", text: "days with surveys: mon-fri, mon,wed,fri, any" },
      { flag: "--hours", value: "hours", text: "hours with surveys in the project's zone: 5-10, 22-6, any" },
    ],
    columns: PLATFORM_SETTINGS,
    details: ({ flags }) => ({
      platform: flags.parse("--platform", (text, flag) => parseChoice(text, flag, PLATFORMS)) ?? "email",
      change: readChange(flags),
    }),
  });
}

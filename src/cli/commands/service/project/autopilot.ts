import { DURATION_MAX } from "../../../../contract/limits.ts";
import { PLATFORMS } from "../../../../contract/resources.ts";
import { quoteText } from "../../../../contract/text/invisible.ts";
import { DAYS_FORM, HOURS_FORM, parseDays, parseHours } from "../../../../service/domain/surveys/windows.ts";
import { INTERVAL_FORM, readInterval } from "../../../../contract/text/duration.ts";
import { badValue } from "../../../args/values.ts";
import { UsageError } from "../../../errors/usage-error.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../service-resources.ts";

export const autopilot = serviceCommand({
  operation: "autopilot",
  summary: "set or show Autopilot for one platform",
  examples: [
    "surveyctl service autopilot --platform email --active --frequency 90d --data survey.db",
    "surveyctl service autopilot --days mon-fri --hours 8-11 --first spread",
    "surveyctl service autopilot --platform sms --inactive",
  ],
  flags: {
    platform: {
      flag: "--platform",
      value: "platform",
      text: "how surveys are sent",
      choices: PLATFORMS,
      default: "email",
    },
    active: { flag: "--active", text: "send surveys", conflicts: ["--inactive"] },
    inactive: { flag: "--inactive", text: "send nothing, but keep the members" },
    frequency: {
      flag: "--frequency",
      value: "duration",
      text: "time between two surveys of a person, such as 90d",
      parse: parseInterval,
    },
    first: {
      flag: "--first",
      value: "when",
      text: "spread first surveys over one interval, or send now",
      choices: ["spread", "now"],
    },
    days: {
      flag: "--days",
      value: "days",
      text: "days with surveys: mon-fri, mon,wed,fri, any",
      parse: checked(parseDays, DAYS_FORM),
    },
    hours: {
      flag: "--hours",
      value: "hours",
      text: "hours with surveys in the project's zone: 5-10, 22-6, any",
      parse: checked(parseHours, HOURS_FORM),
    },
  },
  columns: toResource("autopilot settings", {
    platform: "text",
    active: "flag",
    frequency: "duration",
    first: "text",
    days: "text",
    hours: "text",
    tz: "text",
  }),
  input: ({ active, inactive, ...change }) => ({ ...change, active: active || inactive ? active : null }),
});

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

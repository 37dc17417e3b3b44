import { PLATFORMS } from "../../../../contract/resources.ts";
import { serviceCommand } from "../service-command.ts";

export const autopilot = serviceCommand({
  operation: "autopilot",
  summary: "set or show Autopilot for one platform",
  examples: [
    "surveyctl service autopilot --platform email --active --frequency 90d --data survey.db",
    "surveyctl service autopilot --days mon-fri --hours 8-11 --first spread",
    "surveyctl service autopilot --platform sms --inactive",
  ],
  flags: {
    platform: { value: "platform", text: "how surveys are sent", choices: PLATFORMS, default: "email" },
    active: { text: "send surveys", conflicts: ["--inactive"] },
    inactive: { text: "send nothing, but keep the members" },
    frequency: { value: "duration", text: "time between two surveys of a person, such as 90d" },
    first: { value: "when", text: "spread first surveys over one interval, or send now", choices: ["spread", "now"] },
    days: { value: "days", text: "days with surveys: mon-fri, mon,wed,fri, any" },
    hours: { value: "hours", text: "hours with surveys in the project's zone: 5-10, 22-6, any" },
  },
  noun: "autopilot settings",
  input: ({ active, inactive, ...change }) => ({ ...change, active: active || inactive ? active : null }),
});

import { CHANNELS } from "../../../../contract/routes.ts";
import { serviceCommand } from "../service-command.ts";

export const reminder = serviceCommand({
  operation: "reminder",
  summary: "set or show when people who have not answered are reminded, once for each survey",
  examples: ["surveyctl service reminder 5d --data survey.db", "surveyctl service reminder off --project acme"],
  args: {
    after: {
      form: "[after]",
      text: "a duration after the survey, from 1h to 30d, or off; omit to show the current one",
    },
  },
  flags: {
    channel: { value: "channel", text: "channel of the surveys to remind people of", choices: ["any", ...CHANNELS] },
  },
  noun: "settings",
});

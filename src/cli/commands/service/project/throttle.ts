import { serviceCommand } from "../service-command.ts";

export const throttle = serviceCommand({
  operation: "throttle",
  summary: "set or show the minimum time between two surveys to one person",
  examples: ["surveyctl service throttle 90d --data survey.db", "surveyctl service throttle off --project acme"],
  args: { interval: { form: "[interval]", text: "a duration such as 90d, or off; omit to show the current one" } },
  noun: "settings",
});

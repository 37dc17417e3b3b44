import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";

export const trend = defineGroup({
  name: "trend",
  summary: "saved filters on person_properties, for responses list and metrics",
  commands: [
    serviceCommand({
      operation: "trend.add",
      summary: "save a filter for use with --trend",
      examples: [
        "surveyctl service trend add 'Pro customers' --where plan=pro --data survey.db",
        "surveyctl service trend add 'Pro in France' --where plan=pro --where country=FR",
      ],
      args: { name: { form: "<name>", text: "the trend's name" } },
      flags: {
        where: {
          value: "key=value",
          text: "property and value that a response must have",
          repeatable: true,
          required: true,
        },
      },
      noun: "trends",
    }),
    serviceCommand({
      operation: "trend.list",
      summary: "list trends",
      examples: ["surveyctl service trend list --data survey.db", "surveyctl service trend list --json"],
      noun: "trends",
      dropFirst: ["created_at"],
    }),
    serviceCommand({
      operation: "trend.remove",
      summary: "remove a trend and keep its responses",
      examples: [
        "surveyctl service trend remove 12 --data survey.db",
        "surveyctl service trend rm 12 --project acme --yes",
      ],
      args: { id: { form: "<id>", text: "the trend's number, from `service trend list`" } },
      noun: "rows",
      asks: true,
      done: ({ id }) => `Removed trend ${id}.`,
    }),
  ],
});

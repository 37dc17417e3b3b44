import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { REMOVED, serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";

const TRENDS = toResource("trends", OUTPUTS["trend.list"], ["created_at"]);

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
      columns: TRENDS,
    }),
    serviceCommand({
      operation: "trend.list",
      summary: "list trends",
      examples: ["surveyctl service trend list --data survey.db", "surveyctl service trend list --json"],
      columns: TRENDS,
    }),
    serviceCommand({
      operation: "trend.remove",
      summary: "remove a trend and keep its responses",
      examples: [
        "surveyctl service trend remove 12 --data survey.db",
        "surveyctl service trend rm 12 --project acme --yes",
      ],
      args: { id: { form: "<id>", text: "the trend's number, from `service trend list`" } },
      columns: REMOVED,
      asks: true,
      done: ({ id }) => `Removed trend ${id}.`,
    }),
  ],
});

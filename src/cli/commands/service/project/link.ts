import { defineGroup } from "../../../kit/command-node.ts";
import { parseNameArg, serviceCommand } from "../service-command.ts";

export const link = defineGroup({
  name: "link",
  summary: "public links to a survey, which anyone can answer",
  commands: [
    serviceCommand({
      operation: "link.add",
      summary: "create a public link to a survey, for a website or a QR code",
      examples: [
        "surveyctl service link add Checkout --property store=web --data survey.db",
        "surveyctl service link add 'Shop in Lyon' --property store=lyon --property locale=fr",
      ],
      args: { name: { form: "<name>", text: "the link's name, which only you see", parse: parseNameArg } },
      flags: {
        property: { value: "key=value", text: "property that each response gets", repeatable: true },
      },
      noun: "links",
    }),
    serviceCommand({
      operation: "link.list",
      summary: "list public links",
      examples: ["surveyctl service link list --data survey.db", "surveyctl service link list --json"],
      noun: "links",
      dropFirst: ["created_at", "properties"],
    }),
    serviceCommand({
      operation: "link.remove",
      summary: "remove a public link and keep its responses",
      examples: ["surveyctl service link remove 12 --data survey.db", "surveyctl service link rm 12 --yes"],
      args: { id: { form: "<id>", text: "the link's number, from `service link list`" } },
      noun: "rows",
      asks: true,
      done: ({ id }) => `Removed link ${id}; its responses stay.`,
    }),
  ],
});

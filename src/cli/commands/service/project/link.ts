import { OUTPUTS } from "../../../../service/operations/define/outputs.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { parseNameArg, REMOVED, serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";

const LINKS = toResource("links", OUTPUTS["link.list"], ["created_at", "properties"]);

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
      columns: LINKS,
    }),
    serviceCommand({
      operation: "link.list",
      summary: "list public links",
      examples: ["surveyctl service link list --data survey.db", "surveyctl service link list --json"],
      columns: LINKS,
    }),
    serviceCommand({
      operation: "link.remove",
      summary: "remove a public link and keep its responses",
      examples: ["surveyctl service link remove 12 --data survey.db", "surveyctl service link rm 12 --yes"],
      args: { id: { form: "<id>", text: "the link's number, from `service link list`" } },
      columns: REMOVED,
      asks: true,
      done: ({ id }) => `Removed link ${id}; its responses stay.`,
    }),
  ],
});

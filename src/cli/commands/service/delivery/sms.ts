import { INCOMING_FORMS } from "../../../../service/delivery/sms/providers/providers.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../service-resources.ts";
import { HTTPS_NOTE, keyFlags } from "./hook-keys.ts";

export const sms = defineGroup({
  name: "sms",
  summary: "text messages that people send",
  commands: [
    serviceCommand({
      operation: "sms.hook",
      scope: "server",
      summary: "print the URL for incoming text messages; an empty file name clears a key",
      examples: [
        "surveyctl service sms hook --data survey.db",
        "surveyctl service sms hook --twilio-token token.txt --rotate --json",
      ],
      flags: {
        rotate: { flag: "--rotate", text: "create a new secret; the previous URL stops working" },
        // Such as `--twilio-token`.
        keys: keyFlags(
          [...INCOMING_FORMS].map(([name, { key }]) => ({
            name,
            flag: `--${name}-${key.name}`,
            text: `file with ${key.title}`,
            problem: key.problem,
          })),
        ),
      },
      columns: toResource("hooks", { url: "text", signed_by: "text" }),
      done: (_, { rotate }) => (rotate ? "The previous URL no longer works." : null),
      notes: ({ url }) => (url.startsWith("https://") ? [] : [HTTPS_NOTE]),
    }),
  ],
});

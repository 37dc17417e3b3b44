import type { SigningGateway } from "../../../../service/domain/delivery/hook-secrets.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";
import { HTTPS_NOTE, keyFlags } from "./hook-keys.ts";

export const sms = defineGroup({
  name: "sms",
  summary: "incoming text messages",
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
        rotate: { text: "create a new secret; the previous URL stops working" },
        keys: keyFlags(findProblem, [
          { name: "twilio", flag: "--twilio-token", text: "file with Twilio's auth token" },
          { name: "vonage", flag: "--vonage-secret", text: "file with Vonage's signature secret" },
          { name: "telnyx", flag: "--telnyx-key", text: "file with Telnyx's public key" },
        ]),
      },
      columns: toResource("hooks", { url: "text", signed_by: "text" }),
      done: (_, { rotate }) => (rotate ? "The previous URL no longer works." : null),
      notes: ({ url }) => (url.startsWith("https://") ? [] : [HTTPS_NOTE]),
    }),
  ],
});

async function findProblem(gateway: SigningGateway, key: string): Promise<string | null> {
  const { INCOMING_FORMS } = await import("../../../../service/delivery/sms/providers/providers.ts");
  return INCOMING_FORMS.get(gateway)?.keyProblem(key) ?? null;
}

import type { KeyedProvider } from "../../../../service/domain/delivery/hook-secrets.ts";
import { parseEmail } from "../../../args/people.ts";
import { defineGroup } from "../../../kit/command-node.ts";
import { serviceCommand } from "../service-command.ts";
import { toResource } from "../../../render/columns.ts";
import { HTTPS_NOTE, keyFlags } from "./hook-keys.ts";
import { receive } from "./receive.ts";

export const bounce = defineGroup({
  name: "bounce",
  summary: "bounces, reported by mail or by a provider",
  commands: [
    receive,
    serviceCommand({
      operation: "bounce.clear",
      summary: "let an address that bounced get surveys again, and print the bounce",
      examples: [
        "surveyctl service bounce clear ada@example.com --data survey.db",
        "surveyctl service bounce clear ada@example.com --project acme --json",
      ],
      args: { email: { form: "<email>", text: "the address", parse: parseEmail } },
      noun: "bounces",
      done: ({ email }) => `Cleared the bounce of ${email}. Surveys are sent to it again.`,
    }),
    serviceCommand({
      operation: "bounce.list",
      summary: "list addresses where 3 of the last 5 surveys bounced softly",
      examples: [
        "surveyctl service bounce list --data survey.db",
        "surveyctl service bounce list --project acme --all -o csv",
      ],
      noun: "people",
      dropFirst: ["id"],
      pages: true,
    }),
    serviceCommand({
      operation: "bounce.hook",
      scope: "server",
      summary: "print the URLs for bounce reports from mail providers; an empty file name clears a key",
      examples: [
        "surveyctl service bounce hook --data survey.db",
        "surveyctl service bounce hook --sendgrid-key sendgrid.pub --rotate --json",
      ],
      flags: {
        rotate: { text: "create a new secret; the previous URLs stop working" },
        keys: keyFlags(findProblem, [
          { name: "postmark", flag: "--postmark-login", text: "file with user:password that Postmark logs in with" },
          { name: "sendgrid", flag: "--sendgrid-key", text: "file with SendGrid's public key" },
          { name: "mailgun", flag: "--mailgun-key", text: "file with Mailgun's signing key" },
        ]),
      },
      columns: toResource("hooks", { provider: "text", url: "text", proof: "text" }),
      done: (_, { rotate }) => (rotate ? "The previous URLs no longer work." : null),
      notes: (hooks) => [
        ...(hooks.some(({ proof }) => proof === "refused") ? ["a key is kept, so unsigned reports are refused"] : []),
        ...(hooks.every(({ url }) => url.startsWith("https://")) ? [] : [HTTPS_NOTE]),
      ],
    }),
  ],
});

async function findProblem(provider: KeyedProvider, key: string): Promise<string | null> {
  const { providerKeyProblem } = await import("../../../../service/domain/delivery/hook-secrets.ts");
  return providerKeyProblem(provider, key);
}

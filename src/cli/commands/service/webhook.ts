import type { UrlRefusal } from "../../../service/domain/webhooks/addresses.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../../service/domain/webhooks/webhook.ts";
import { OUTPUTS } from "../../../service/operations/define/outputs.ts";
import type { InputOf } from "../../../service/operations/index.ts";
import { parseName } from "../../args/values.ts";
import { countOf } from "../../../contract/text/whole-number.ts";
import { parseStart } from "../../kit/time-flags.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { defineGroup } from "../../kit/command-node.ts";
import { showRecord } from "./data/data-file.ts";
import { serviceCommand } from "./service-command.ts";
import { toResource } from "../../render/columns.ts";

const SECRET_NOTE = "save this secret now; it is not shown again";

const WEBHOOK_TEST = toResource("events", OUTPUTS["webhook.test"]);

const ID = { form: "<id>", text: "the webhook's number, from `service webhook list`" } as const;

export const ALLOW_PRIVATE = { text: "allow private addresses, and a literal loopback address" } as const;

const add = serviceCommand({
  operation: "webhook.add",
  summary: "post events to a URL, and print the signing secret once",
  examples: [
    "surveyctl service webhook add https://example.com/hook --data survey.db",
    "surveyctl service webhook add http://127.0.0.1:9000/hook --allow-private --events survey_response.created",
    "surveyctl service webhook add https://hooks.slack.com/x --format slack --score 0-6",
  ],
  args: { url: { form: "<url>", text: "the URL that events are posted to" } },
  flags: {
    secret: { value: "text", text: "signing key", otherwise: "a new one" },
    signature_header: { value: "name", text: "signature header", otherwise: "X-Webhook-Signature" },
    allow_private: ALLOW_PRIVATE,
    insecure_http: { text: "allow plain http to public addresses" },
    events: { value: "names", text: `events to post: ${WEBHOOK_EVENTS.join(", ")}`, otherwise: "all" },
    score: { value: "range", text: "only responses with these scores, such as 0-6", otherwise: "all" },
    format: { value: "format", text: "format of the body", choices: WEBHOOK_FORMATS, default: "json" },
  },
  noun: "webhooks",
  input: async (webhook) => {
    const { url, allow_private: allowPrivate, insecure_http: insecureHttp } = webhook;
    const refusal =
      (await urlRefusal({ url, allowPrivate, insecureHttp }, "<url>")) ?? (await signatureRefusal(webhook));
    if (refusal !== null) throw refusal;
    return webhook;
  },
  places: { url: "<url>" },
  notes: () => [SECRET_NOTE],
});

const ADVICE: Readonly<Partial<Record<UrlRefusal["code"], string>>> = {
  invalid: "for example https://example.com/hooks/survey",
  scheme: "use https://",
  credentials: "receivers check the signature instead",
  plain: "use https://, or --insecure-http",
  private: "use --allow-private if it is meant",
  loopback: "use --allow-private if it is meant",
};

interface Target {
  readonly url: string;
  readonly allowPrivate: boolean;
  readonly insecureHttp?: boolean;
}

export async function urlRefusal(target: Target, place: string): Promise<UsageError | null> {
  const { refuseUrl } = await import("../../../service/domain/webhooks/addresses.ts");
  const { url, allowPrivate, insecureHttp } = target;
  const refusal = refuseUrl(url, { insecureHttp: insecureHttp ?? false, allowPrivate }, []);
  if (refusal === null) return null;
  const { code, message } = refusal;
  const hint = code === "plain" && insecureHttp === undefined ? "use https://" : ADVICE[code];
  const shown = code === "credentials" ? "the URL" : url;
  return new UsageError(`${place}: ${shown} is not allowed: ${message}`, hint === undefined ? {} : { hint });
}

/** The error doesn't repeat the secret. */
async function signatureRefusal({ secret, signature_header: header }: InputOf<"webhook.add">) {
  const { refuseSecret, refuseSignatureHeader } =
    await import("../../../service/domain/webhooks/signature-settings.ts");
  const badSecret = secret == null ? null : refuseSecret(secret);
  if (badSecret !== null) return new UsageError(`--secret: ${badSecret}`);
  const badHeader = header == null ? null : refuseSignatureHeader(header);
  return badHeader === null ? null : new UsageError(`--signature-header: "${header}" ${badHeader}`);
}

export const webhook = defineGroup({
  name: "webhook",
  summary: "events posted to your own URLs",
  commands: [
    add,
    serviceCommand({
      operation: "webhook.list",
      summary: "list webhooks with their state and last delivery",
      examples: ["surveyctl service webhook list --data survey.db", "surveyctl service webhook list --json"],
      noun: "webhooks",
      dropFirst: [
        "signature_header",
        "format",
        "created_at",
        "failing_since",
        "disabled_at",
        "scores",
        "missed",
        "events",
      ],
    }),
    serviceCommand({
      operation: "webhook.remove",
      summary: "remove a webhook and drop its pending events",
      examples: ["surveyctl service webhook remove 3 --data survey.db", "surveyctl service webhook rm 3 --yes"],
      args: { id: ID },
      noun: "webhooks",
      asks: true,
      done: ({ id, dropped }) => `Removed webhook ${id}. ${countOf(dropped, "event")} dropped.`,
    }),
    serviceCommand({
      operation: "webhook.enable",
      summary: "send events to a webhook again after it was disabled",
      examples: [
        "surveyctl service webhook enable 3 --data survey.db",
        "surveyctl service webhook enable 3 --project acme",
      ],
      args: { id: ID },
      noun: "webhooks",
      done: ({ id, waiting }) => `Enabled webhook ${id}. ${countOf(waiting, "event")} waiting.`,
    }),
    serviceCommand({
      operation: "webhook.test",
      summary: "send a sample event now and show the response",
      examples: ["surveyctl service webhook test 3 --data survey.db", "surveyctl service webhook test 3 --json"],
      args: { id: ID },
      columns: WEBHOOK_TEST,
      show: async (deps, result) => {
        await showRecord(deps, WEBHOOK_TEST, result);
        const { delivered, status, text } = result;
        const reason = status === null ? text : `HTTP ${status}`;
        if (!delivered) throw new DataFileError("not_delivered", `the test event was not delivered: ${reason}`);
      },
      done: ({ ms }) => `Delivered in ${ms} ms.`,
    }),
    serviceCommand({
      operation: "webhook.rotate",
      summary: "replace a webhook's secret, and print the new one once",
      examples: [
        "surveyctl service webhook rotate 3 --data survey.db",
        "surveyctl service webhook rotate 3 --overlap 7d --project acme",
      ],
      args: { id: ID },
      flags: {
        overlap: { value: "duration", text: "how long the old secret also signs", default: "24h" },
      },
      noun: "webhooks",
      notes: () => [SECRET_NOTE],
    }),
    serviceCommand({
      operation: "webhook.deliveries",
      summary: "list a webhook's events of the last 30 days with their outcomes, newest first",
      examples: [
        "surveyctl service webhook deliveries 3 --data survey.db",
        "surveyctl service webhook deliveries 3 --failed --all --json",
      ],
      args: { id: ID },
      flags: { failed: { text: "only events that were given up" } },
      noun: "events",
      dropFirst: ["log", "ms", "attempted_at", "due_at"],
      pages: true,
    }),
    serviceCommand({
      operation: "webhook.redeliver",
      summary: "send events again: those that were given up, all since a time, or one",
      examples: [
        "surveyctl service webhook redeliver 3 --data survey.db",
        "surveyctl service webhook redeliver 3 --since 2d --project acme",
      ],
      args: { id: ID },
      flags: {
        since: {
          value: "time",
          text: "all events since then, delivered or not",
          conflicts: ["--event"],
          parse: parseStart,
        },
        event: { value: "id", text: "only this event", parse: parseName },
      },
      noun: "webhooks",
      done: ({ redelivered }) => `${countOf(redelivered, "event")} to be sent again.`,
    }),
  ],
});

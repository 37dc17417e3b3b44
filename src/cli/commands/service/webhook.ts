import type { Command } from "commander";
import type { WebhookCommand } from "../../../service/admin/webhook/commands.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../../../service/domain/webhooks/webhook-rows.ts";
import type { UrlRefusal } from "../../../service/domain/webhooks/addresses.ts";
import type { FlagRecord } from "../../args/flag-record.ts";
import type { Flags } from "../../args/flags.ts";
import {
  parseChoice,
  parseChoices,
  parseDuration,
  parseLifetime,
  parseName,
  parseScoreSpan,
} from "../../args/values.ts";
import type { CommandContext } from "../../command/command-context.ts";
import type { Deps } from "../../command/deps.ts";
import { LIST_FLAGS, type ListLimits, readLimits } from "../../command/list-rows.ts";
import { countOf, writeDone } from "../../command/notes.ts";
import { readTime } from "../../command/time-flags.ts";
import { DataFileError } from "../../errors/command-errors.ts";
import { UsageError } from "../../errors/usage-error.ts";
import { EXIT, type ExitCode } from "../../exit-codes.ts";
import { PROJECT_FLAGS, type ProjectChoice, readProject, showPages, showRecord, withAdmin } from "./data/data-file.ts";
import { projectVerb } from "./project-verb.ts";
import {
  REDELIVERED,
  WEBHOOK_DELIVERIES,
  WEBHOOK_REMOVED,
  WEBHOOK_SECRET,
  WEBHOOK_TEST,
  WEBHOOKS,
} from "./service-resources.ts";
import { checkColumns } from "../../render/record-output.ts";

const SECRET_NOTE = "save this secret now; it is not shown again";

type AddCommand = Extract<WebhookCommand, { readonly kind: "webhook.add" }>;

type AddDetails = Omit<AddCommand, "kind" | "project">;

/** The command to type instead, where there is one. */
const ADVICE: Readonly<Partial<Record<UrlRefusal["code"], string>>> = {
  invalid: "for example https://example.com/hooks/survey",
  scheme: "use https://",
  credentials: "receivers check the signature instead",
  plain: "use https://, or --insecure-http",
  private: "use --allow-private if it is meant",
  loopback: "use --allow-private if it is meant",
};

/** Why a URL may not be posted to, as an error; null if it may. Without `insecureHttp` there is no such flag. */
export async function urlRefusal(
  target: Pick<AddCommand, "url" | "allowPrivate"> & { readonly insecureHttp?: boolean },
  place: string,
): Promise<UsageError | null> {
  const { refuseUrl } = await import("../../../service/domain/webhooks/addresses.ts");
  const refusal = refuseUrl(target.url, { insecureHttp: false, ...target }, []);
  if (refusal === null) return null;
  const { code, message } = refusal;
  const hint = code === "plain" && target.insecureHttp === undefined ? "use https://" : ADVICE[code];
  const shown = code === "credentials" ? "the URL" : target.url;
  return new UsageError(`${place}: ${shown} is not allowed: ${message}`, hint === undefined ? {} : { hint });
}

/** A secret is not repeated in the error. */
async function signatureRefusal({ secret, signatureHeader }: AddDetails): Promise<UsageError | null> {
  const { refuseSecret, refuseSignatureHeader } =
    await import("../../../service/domain/webhooks/signature-settings.ts");
  const badSecret = secret === undefined ? null : refuseSecret(secret);
  if (badSecret !== null) return new UsageError(`--secret: ${badSecret}`);
  const badHeader = signatureHeader === undefined ? null : refuseSignatureHeader(signatureHeader);
  return badHeader === null ? null : new UsageError(`--signature-header: "${signatureHeader}" ${badHeader}`);
}

interface WebhookChoice extends ProjectChoice {
  readonly id: string;
}

async function runWebhookTest(deps: Deps, { project, id, ...choice }: WebhookChoice): Promise<ExitCode> {
  checkColumns(deps, WEBHOOK_TEST);
  const result = await withAdmin(deps, choice, (admin) => admin({ kind: "webhook.test", project, id }));
  await showRecord(deps, WEBHOOK_TEST, result);
  if (!result.delivered) {
    const reason = result.status === null ? result.text : `HTTP ${result.status}`;
    throw new DataFileError("not_delivered", `the test event was not delivered: ${reason}`);
  }
  await writeDone(deps, `Delivered in ${result.ms} ms.`);
  return EXIT.done;
}

interface WebhookDeliveriesOptions extends WebhookChoice {
  readonly failed: boolean;
  readonly limits: ListLimits;
}

const PAGE = 100;

async function runWebhookDeliveries(deps: Deps, options: WebhookDeliveriesOptions): Promise<ExitCode> {
  const { project, id, failed, ...list } = options;
  const asked = { kind: "webhook.deliveries", project, id, failed } as const;
  return showPages(deps, {
    ...list,
    resource: WEBHOOK_DELIVERIES,
    // The newest come first: from the end on, and then before the last one that was shown.
    fetch: (admin, place, limit) =>
      admin({ ...asked, ...(place !== "0" && { before: place }), limit: Math.min(limit, PAGE) }),
  });
}

export function registerWebhook(parent: Command, context: CommandContext): void {
  const noun = parent.command("webhook").description("events posted to your own URLs");
  registerAdd(noun, context);
  projectVerb(context, noun, {
    kind: "webhook.list",
    name: "list",
    alias: "ls",
    summary: "list webhooks with their state and last delivery",
    examples: ["surveyctl service webhook list --data survey.db", "surveyctl service webhook list --json"],
    columns: WEBHOOKS,
  });
  registerSimple(noun, context);
  registerRotate(noun, context);
  registerDeliveries(noun, context);
  registerRedeliver(noun, context);
}

const ID: readonly [string, string] = ["<id>", "the webhook's number, from `service webhook list`"];
const EXITS = [EXIT.done, EXIT.failed, EXIT.refused] as const;

export const ALLOW_PRIVATE_FLAG: FlagRecord = {
  flag: "--allow-private",
  text: "allow private addresses, and a literal loopback address",
};

const ADD_FLAGS: readonly FlagRecord[] = [
  { flag: "--secret", value: "text", text: "signing key", otherwise: "a new one" },
  {
    flag: "--signature-header",
    value: "name",
    text: "signature header",
    otherwise: "X-Webhook-Signature",
  },
  ALLOW_PRIVATE_FLAG,
  { flag: "--insecure-http", text: "allow plain http to public addresses" },
  { flag: "--events", value: "names", text: `events to post: ${WEBHOOK_EVENTS.join(", ")}`, otherwise: "all" },
  { flag: "--score", value: "range", text: "only responses with these scores, such as 0-6", otherwise: "all" },
  { flag: "--format", value: "format", text: "format of the body", choices: WEBHOOK_FORMATS, default: "json" },
];

function registerAdd(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "webhook.add",
    name: "add",
    summary: "post events to a URL, and print the signing secret once",
    operands: [["<url>", "the URL that events are posted to"]],
    examples: [
      "surveyctl service webhook add https://example.com/hook --data survey.db",
      "surveyctl service webhook add http://127.0.0.1:9000/hook --allow-private --events survey_response.created",
      "surveyctl service webhook add https://hooks.slack.com/x --format slack --score 0-6",
    ],
    flags: ADD_FLAGS,
    columns: WEBHOOK_SECRET,
    details: async ({ flags, operands: [url = ""] }) => {
      const webhook = readWebhook(flags, url);
      const refusal = (await urlRefusal(webhook, "<url>")) ?? (await signatureRefusal(webhook));
      if (refusal !== null) throw refusal;
      return webhook;
    },
    places: { url: "<url>" },
    notes: () => [SECRET_NOTE],
  });
}

/** Throws UsageError. */
function readWebhook(flags: Flags, url: string): AddDetails {
  const secret = flags.text("--secret");
  const signatureHeader = flags.text("--signature-header");
  const events = flags.parse("--events", (text, place) => parseChoices([text], place, WEBHOOK_EVENTS));
  const scores = flags.parse("--score", parseScoreSpan);
  return {
    url,
    allowPrivate: flags.is("--allow-private"),
    insecureHttp: flags.is("--insecure-http"),
    format: parseChoice(flags.text("--format") ?? "json", "--format", WEBHOOK_FORMATS),
    ...(secret === null ? {} : { secret }),
    ...(signatureHeader === null ? {} : { signatureHeader }),
    ...(events === null ? {} : { events }),
    ...(scores === null ? {} : { scores }),
  };
}

function registerSimple(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "webhook.remove",
    name: "remove",
    alias: "rm",
    summary: "remove a webhook and drop its pending events",
    operands: [ID],
    examples: ["surveyctl service webhook remove 3 --data survey.db", "surveyctl service webhook rm 3 --yes"],
    columns: WEBHOOK_REMOVED,
    details: ({ operands: [id = ""] }) => ({ id }),
    removal: {
      command: "service webhook remove",
      question: async (admin, { project, operands: [id] }) => {
        const webhook = (await admin({ kind: "webhook.list", project })).find((one) => one.id === id);
        if (webhook === undefined) return null;
        return `Remove webhook ${id} (${webhook.url}) and drop ${countOf(webhook.waiting, "event", "events")}?`;
      },
    },
    done: ({ id, dropped }) => `Removed webhook ${id}. ${countOf(dropped, "event", "events")} dropped.`,
  });
  projectVerb(context, noun, {
    kind: "webhook.enable",
    name: "enable",
    summary: "send events to a webhook again after it was disabled",
    operands: [ID],
    examples: [
      "surveyctl service webhook enable 3 --data survey.db",
      "surveyctl service webhook enable 3 --project acme",
    ],
    columns: WEBHOOKS,
    details: ({ operands: [id = ""] }) => ({ id }),
    done: ({ id, waiting }) => `Enabled webhook ${id}. ${countOf(waiting, "event", "events")} waiting.`,
  });
  const test = context.verb(noun, {
    name: "test",
    summary: "send a sample event now and show the answer",
    operands: [ID],
    examples: ["surveyctl service webhook test 3 --data survey.db", "surveyctl service webhook test 3 --json"],
    exits: EXITS,
    flags: PROJECT_FLAGS,
    columns: WEBHOOK_TEST,
  });
  context.action(test, (deps, flags, [id = ""]) => runWebhookTest(deps, { ...readProject(flags), id }));
}

function registerRotate(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "webhook.rotate",
    name: "rotate",
    summary: "replace a webhook's secret, and print the new one once",
    operands: [ID],
    examples: [
      "surveyctl service webhook rotate 3 --data survey.db",
      "surveyctl service webhook rotate 3 --overlap 7d --project acme",
    ],
    flags: [{ flag: "--overlap", value: "duration", text: "how long the old secret also signs", default: "24h" }],
    columns: WEBHOOK_SECRET,
    details: ({ flags, operands: [id = ""] }) => ({
      id,
      overlapSeconds: parseOverlap(flags.text("--overlap") ?? "24h"),
    }),
    notes: () => [SECRET_NOTE],
  });
}

/** Seconds; 0 ends the old secret at once. */
function parseOverlap(text: string): number {
  return parseDuration(text, "--overlap") === 0 ? 0 : parseLifetime(text, "--overlap");
}

function registerDeliveries(noun: Command, context: CommandContext): void {
  const deliveries = context.verb(noun, {
    name: "deliveries",
    summary: "list a webhook's events of the last 30 days with their outcomes, newest first",
    operands: [ID],
    examples: [
      "surveyctl service webhook deliveries 3 --data survey.db",
      "surveyctl service webhook deliveries 3 --failed --all --json",
    ],
    exits: EXITS,
    flags: [...PROJECT_FLAGS, { flag: "--failed", text: "only events that were given up" }, ...LIST_FLAGS],
    columns: WEBHOOK_DELIVERIES,
  });
  context.action(deliveries, (deps, flags, [id = ""]) =>
    runWebhookDeliveries(deps, {
      ...readProject(flags),
      id,
      failed: flags.is("--failed"),
      limits: readLimits(flags),
    }),
  );
}

function registerRedeliver(noun: Command, context: CommandContext): void {
  projectVerb(context, noun, {
    kind: "webhook.redeliver",
    name: "redeliver",
    summary: "send events again: those that were given up, all since a time, or one",
    operands: [ID],
    examples: [
      "surveyctl service webhook redeliver 3 --data survey.db",
      "surveyctl service webhook redeliver 3 --since 2d --project acme",
    ],
    flags: [
      { flag: "--since", value: "time", text: "all events since then, delivered or not" },
      { flag: "--event", value: "id", text: "only this event" },
    ],
    columns: REDELIVERED,
    details: ({ deps, flags, operands: [id = ""] }) => {
      const event = flags.parse("--event", parseName);
      const since = readTime(deps, flags, "--since", "first");
      if (event !== null && since !== null) throw new UsageError("--since and --event cannot be used together");
      return { id, ...(since === null ? {} : { since }), ...(event === null ? {} : { event }) };
    },
    done: ({ redelivered }) => `${countOf(redelivered, "event", "events")} to be sent again.`,
  });
}

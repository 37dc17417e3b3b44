/** What the `service …` commands ask for: of the running server, or of the data file itself. Plain data, both ways. */
import * as v from "valibot";
import { LOCALES, type Locale } from "../../contract/locales.ts";
import { isJsonObject, type Json } from "../../contract/json.ts";
import type { AutopilotConfiguration, Platform, Properties } from "../../contract/resources.ts";
import type { ConflictPolicy, Imported } from "../domain/history/import-people.ts";
import type { StoreContents } from "../domain/ports.ts";
import type { PastRows } from "../domain/history/import-responses.ts";
import type {
  AppliedConfiguration,
  ProjectConfiguration,
  WantedConfiguration,
  ConfiguredSettings,
} from "../domain/projects/configuration.ts";
import { WEEKDAYS } from "../domain/delivery/digest-rows.ts";
import { WEBHOOK_EVENTS, WEBHOOK_FORMATS } from "../domain/webhooks/webhook-rows.ts";
import { BOUNCE_COMMANDS, type BounceCommand, type BounceResults } from "./bounce-commands.ts";
import { DELIVERY_COMMANDS, type DeliveryCommand, type DeliveryResults } from "./delivery-commands.ts";
import { PRIVACY_COMMANDS, type PrivacyCommand, type PrivacyResults } from "./privacy/commands.ts";
import { PAGE_COMMANDS, type PageCommand, type PageResults } from "./page-commands.ts";
import { DIGEST_COMMANDS, type DigestCommand, type DigestResults } from "./digest-commands.ts";
import { WEBHOOK_COMMANDS, type WebhookCommand, type WebhookResults } from "./webhook-commands.ts";

export type AdminCommand =
  | DeliveryCommand
  | PageCommand
  | BounceCommand
  | WebhookCommand
  | DigestCommand
  | PrivacyCommand
  | { readonly kind: "project.add"; readonly name: string }
  | { readonly kind: "project.list" }
  | { readonly kind: "key.add"; readonly project: string; readonly name?: string }
  | { readonly kind: "key.list"; readonly project: string }
  /** By id or name. */
  | { readonly kind: "key.revoke"; readonly project: string; readonly id: string }
  /** By id or name; the previous keys end after so many seconds, absent: they stay. */
  | { readonly kind: "key.rotate"; readonly project: string; readonly id: string; readonly endsAfter?: number }
  /** Seconds; null for no throttling; absent leaves it as it is. */
  | { readonly kind: "throttle"; readonly project: string; readonly seconds?: number | null }
  | {
      readonly kind: "autopilot";
      readonly project: string;
      readonly platform: Platform;
      readonly active?: boolean;
      readonly frequencySeconds?: number;
    }
  /** Changes what is given, and shows all; an empty text takes a setting back. */
  | { readonly kind: "settings"; readonly project: string; readonly change: SettingsChange }
  /** All settings as one value. */
  | { readonly kind: "configuration"; readonly project: string }
  /** Makes the settings as they are wanted, all or none; `dryRun` says what would change. */
  | {
      readonly kind: "configure";
      readonly project: string;
      readonly wanted: WantedConfiguration;
      readonly dryRun: boolean;
    }
  | {
      readonly kind: "survey.preview";
      readonly project: string;
      /** Whose survey; null for anybody's. */
      readonly email: string | null;
      readonly locale: Locale | null;
    }
  | {
      readonly kind: "trend.add";
      readonly project: string;
      readonly name: string;
      readonly where: Readonly<Record<string, string>>;
    }
  | { readonly kind: "trend.list"; readonly project: string }
  | { readonly kind: "trend.remove"; readonly project: string; readonly id: string }
  /** Saved rows of the service that closed, a bounded batch of one step. */
  | {
      readonly kind: "history.add";
      readonly project: string;
      readonly batch: PastRows;
      readonly onConflict: ConflictPolicy;
      /** Whether webhooks are told. */
      readonly webhooks: boolean;
    }
  /** Copies the data to a new file with this absolute path. */
  | { readonly kind: "backup"; readonly file: string }
  | { readonly kind: "vacuum" }
  /** A key that the service keeps in memory alone. */
  | { readonly kind: "session"; readonly project: string };

/** By the names of the result. */
export type SettingsChange = { readonly [Name in keyof ConfiguredSettings]?: string };

const project = v.string();
const setting = v.exactOptional(v.string());
const id = v.string();

const text = v.nullable(v.string());
const number = v.nullable(v.number());
const PERSON = v.object({
  id: number,
  email: text,
  name: text,
  phoneNumber: text,
  createdAt: number,
  lastSentAt: number,
  unsubscribedAt: number,
  bouncedAt: number,
  answeredAt: v.exactOptional(v.number()),
});
const RESPONSE = v.object({
  id: number,
  person: PERSON,
  surveyType: v.string(),
  score: v.number(),
  comment: text,
  createdAt: v.number(),
  updatedAt: number,
  permalink: v.exactOptional(v.string()),
  properties: v.custom<Properties>(isJsonObject),
  tags: v.nullable(v.array(v.string())),
  notes: v.nullable(v.array(v.object({ id: number, text: v.string(), userEmail: v.string(), createdAt: v.number() }))),
  additionalAnswers: v.nullable(v.custom<Json[]>(Array.isArray)),
});

const seconds = v.nullable(v.number());
const flag = v.boolean();
const platform = v.partial(v.object({ active: flag, frequency: v.number() }));
const webhook = {
  events: v.array(v.picklist(WEBHOOK_EVENTS)),
  scores: v.nullable(v.object({ from: v.number(), to: v.number() })),
  format: v.picklist(WEBHOOK_FORMATS),
  signature_header: v.string(),
  allow_private: flag,
  insecure_http: flag,
};
const WANTED = v.partial(
  v.object({
    settings: v.partial(
      v.object({ sender_name: text, from: text, reply_to: text, footer: text, tz: text, soft_bounces: number }),
    ),
    throttle: seconds,
    autopilot: v.partial(v.object({ email: platform, sms: platform })),
    brand: v.partial(v.object({ name: text, color: text, logo: text })),
    trends: v.array(v.object({ name: v.string(), where: v.record(v.string(), v.string()) })),
    webhooks: v.array(v.object({ url: v.string(), ...v.partial(v.object(webhook)).entries })),
    digests: v.array(
      v.object({
        email: v.string(),
        every: v.picklist(WEEKDAYS),
        at: v.exactOptional(v.pipe(v.string(), v.regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/))),
        tz: v.exactOptional(text),
      }),
    ),
  }),
) as v.GenericSchema<unknown, WantedConfiguration>;

/** A command as it comes in from outside. */
export const COMMAND: v.GenericSchema<unknown, AdminCommand> = v.variant("kind", [
  v.object({ kind: v.literal("project.add"), name: v.string() }),
  v.object({ kind: v.literal("project.list") }),
  v.object({ kind: v.literal("key.add"), project, name: v.exactOptional(v.string()) }),
  v.object({ kind: v.literal("key.list"), project }),
  v.object({ kind: v.literal("key.revoke"), project, id }),
  v.object({
    kind: v.literal("key.rotate"),
    project,
    id,
    endsAfter: v.exactOptional(v.pipe(v.number(), v.integer(), v.minValue(0))),
  }),
  v.object({ kind: v.literal("throttle"), project, seconds: v.exactOptional(v.nullable(v.number())) }),
  v.object({
    kind: v.literal("autopilot"),
    project,
    platform: v.picklist(["email", "sms"]),
    active: v.exactOptional(v.boolean()),
    frequencySeconds: v.exactOptional(v.number()),
  }),
  v.object({
    kind: v.literal("settings"),
    project,
    change: v.object({
      sender_name: setting,
      from: setting,
      reply_to: setting,
      footer: setting,
      tz: setting,
      soft_bounces: setting,
    }),
  }),
  v.object({ kind: v.literal("configuration"), project }),
  v.object({ kind: v.literal("configure"), project, wanted: WANTED, dryRun: v.boolean() }),
  v.object({
    kind: v.literal("survey.preview"),
    project,
    email: v.nullable(v.string()),
    locale: v.nullable(v.picklist(LOCALES)),
  }),
  v.object({ kind: v.literal("trend.add"), project, name: v.string(), where: v.record(v.string(), v.string()) }),
  v.object({ kind: v.literal("trend.list"), project }),
  v.object({ kind: v.literal("trend.remove"), project, id }),
  v.object({ kind: v.literal("backup"), file: v.string() }),
  v.object({ kind: v.literal("vacuum") }),
  v.object({ kind: v.literal("session"), project }),
  v.object({
    kind: v.literal("history.add"),
    project,
    batch: v.variant("step", [
      v.object({ step: v.picklist(["suppressions", "people", "marks"]), rows: v.array(PERSON) }),
      v.object({ step: v.literal("responses"), rows: v.array(RESPONSE) }),
    ]),
    onConflict: v.picklist(["keep", "replace"]),
    webhooks: v.boolean(),
  }),
  ...DELIVERY_COMMANDS,
  ...PAGE_COMMANDS,
  ...BOUNCE_COMMANDS,
  ...WEBHOOK_COMMANDS,
  ...DIGEST_COMMANDS,
  ...PRIVACY_COMMANDS,
]);

export interface ProjectInfo {
  readonly id: string;
  readonly name: string;
  readonly created_at: number;
  /** Seconds; null for none. */
  readonly throttle: number | null;
  readonly people: number;
  readonly responses: number;
}

export interface KeyInfo {
  readonly id: string;
  readonly name: string | null;
  readonly last_four: string;
  readonly created_at: number;
  /** Null for never. */
  readonly expires_at: number | null;
}

/** What became, or would become, of the settings; nothing of it where one of them is refused. */
export interface ConfiguredInfo extends AppliedConfiguration {
  readonly refused: { readonly path: readonly string[]; readonly text: string } | null;
}

/** A survey's e-mail as it would be sent. */
export interface PreviewInfo {
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  readonly text: string;
  readonly html: string;
  /** Headers and both parts, as an `.eml` file has them. */
  readonly message: string;
}

export interface TrendInfo {
  readonly id: string;
  readonly name: string;
  readonly where: Readonly<Record<string, string>>;
  readonly created_at: number;
}

export interface VacuumInfo {
  readonly bytes_before: number;
  readonly bytes: number;
}

export interface AdminResults
  extends DeliveryResults, PageResults, BounceResults, WebhookResults, DigestResults, PrivacyResults {
  "project.add": { readonly id: string; readonly name: string; readonly key: string };
  "project.list": readonly ProjectInfo[];
  "key.add": { readonly id: string; readonly name: string | null; readonly key: string };
  "key.list": readonly KeyInfo[];
  "key.revoke": { readonly id: string };
  "key.rotate": {
    readonly id: string;
    readonly name: string | null;
    readonly key: string;
    /** Ids. */
    readonly previous: readonly string[];
    /** Null: until they are revoked. */
    readonly previous_until: number | null;
  };
  throttle: { readonly throttle: number | null };
  autopilot: AutopilotConfiguration;
  settings: ConfiguredSettings;
  configuration: ProjectConfiguration;
  configure: ConfiguredInfo;
  "survey.preview": PreviewInfo;
  "trend.add": TrendInfo;
  "trend.list": readonly TrendInfo[];
  "trend.remove": { readonly id: string };
  /** What the copy holds; or why it could not be written, and then there is none. */
  backup: StoreContents | { readonly problem: string };
  vacuum: VacuumInfo;
  session: { readonly key: string };
  "history.add": Imported;
}

export type AdminKind = AdminCommand["kind"];
export type CommandOf<Kind extends AdminKind> = Extract<AdminCommand, { readonly kind: Kind }>;

const LOOKS: ReadonlySet<AdminKind> = new Set([
  "project.list",
  "key.list",
  "configuration",
  "survey.preview",
  "survey.link",
  "trend.list",
  "link.list",
  "delivery.list",
  "delivery.show",
  "delivery.status",
  "bounce.list",
  "webhook.list",
  "webhook.deliveries",
  "digest.list",
  "backup",
  "session",
]);

/** True for a command that may change what is stored: some only show, where nothing is given to them. */
export function changesSomething(command: AdminCommand): boolean {
  const { kind } = command;
  if (LOOKS.has(kind)) return false;
  if (kind === "erase" || kind === "configure" || kind === "retention") return !command.dryRun;
  if (kind === "settings") return Object.keys(command.change).length > 0;
  if (kind === "throttle") return command.seconds !== undefined;
  if (kind === "autopilot") return command.active !== undefined || command.frequencySeconds !== undefined;
  if (kind === "brand") return [command.name, command.color, command.logo].some((part) => part !== undefined);
  return true;
}

/** Carries out one command. Throws AdminError for what cannot be done as asked. */
export type Admin = <Kind extends AdminKind>(command: CommandOf<Kind>) => Promise<AdminResults[Kind]>;

/** The command names something that is not there, or a value that cannot be: a sentence for the one who typed it. */
export class AdminError extends Error {
  override readonly name = "AdminError";
}

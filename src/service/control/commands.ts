/** The questions of the `service …` commands, and their answers. */
import type { KeyAccess } from "../../contract/key-access.ts";
import type { Locale } from "../../contract/locales.ts";
import type { Platform } from "../../contract/resources.ts";
import type { ReminderChannel } from "../domain/delivery/reminders.ts";
import type { AutopilotChange, ShownAutopilot } from "../domain/surveys/autopilot.ts";
import type { ConflictPolicy, Imported } from "../domain/history/import-people.ts";
import type { StoreContents } from "../domain/ports.ts";
import type { PastRows } from "../domain/history/import-responses.ts";
import type {
  AppliedConfiguration,
  ProjectConfiguration,
  WantedConfiguration,
} from "../domain/projects/configuration.ts";
import type { ConfiguredSettings } from "../domain/projects/settings.ts";
import { type BounceCommand, type BounceResults } from "./bounce-commands.ts";
import { type DeliveryCommand, type DeliveryResults } from "./delivery-commands.ts";
import { type PrivacyCommand, type PrivacyResults } from "./privacy/commands.ts";
import { type PageCommand, type PageResults } from "./page-commands.ts";
import { type QuestionCommand, type QuestionResults } from "./questions/commands.ts";
import type { DigestCommand, DigestResults, PreviewInfo } from "./digest-commands.ts";
import { type ShareCommand, type ShareResults } from "./share/commands.ts";
import { type WebhookCommand, type WebhookResults } from "./webhook-commands.ts";

export type AdminCommand =
  | DeliveryCommand
  | PageCommand
  | ShareCommand
  | QuestionCommand
  | BounceCommand
  | WebhookCommand
  | DigestCommand
  | PrivacyCommand
  | { readonly kind: "project.add"; readonly name: string }
  | { readonly kind: "project.list" }
  /** Ends after so many seconds; absent: never. */
  | {
      readonly kind: "key.add";
      readonly project: string;
      readonly name?: string;
      readonly access?: KeyAccess;
      readonly expiresAfter?: number;
    }
  | { readonly kind: "key.list"; readonly project: string }
  /** The key that `key.revoke` ends, by id or name. */
  | { readonly kind: "key.find"; readonly project: string; readonly id: string }
  /** By id or name. */
  | { readonly kind: "key.revoke"; readonly project: string; readonly id: string }
  /** By id or name; the previous keys end after so many seconds, absent: they stay. */
  | {
      readonly kind: "key.rotate";
      readonly project: string;
      readonly id: string;
      readonly endsAfter?: number;
      readonly expiresAfter?: number;
    }
  /** Seconds; null for no throttling; absent leaves it as it is. */
  | { readonly kind: "throttle"; readonly project: string; readonly seconds?: number | null }
  /** Null for no reminders; absent leaves it as it is. */
  | {
      readonly kind: "reminder";
      readonly project: string;
      readonly after?: number | null;
      readonly channel?: ReminderChannel;
    }
  | {
      readonly kind: "autopilot";
      readonly project: string;
      readonly platform: Platform;
      readonly change: AutopilotChange;
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
      /** The person whose survey it is; null for anybody's. */
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
      /** Webhooks are told. */
      readonly webhooks: boolean;
    }
  /** Copies the data to a new file with this absolute path. */
  | { readonly kind: "backup"; readonly file: string }
  | { readonly kind: "vacuum" };

/** By the names of the result. */
export type SettingsChange = { readonly [Name in keyof ConfiguredSettings]?: string };

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
  readonly access: KeyAccess;
  readonly last_four: string;
  readonly created_at: number;
  /** A UTC day such as `2026-11-26`; null for never. */
  readonly last_used_on: string | null;
  /** Null for never. */
  readonly expires_at: number | null;
}

/** The changes of the settings that were made, or would be; none where one of them is refused. */
export interface ConfiguredInfo extends AppliedConfiguration {
  readonly refused: { readonly path: readonly string[]; readonly text: string } | null;
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
  extends
    DeliveryResults,
    PageResults,
    ShareResults,
    QuestionResults,
    BounceResults,
    WebhookResults,
    DigestResults,
    PrivacyResults {
  "project.add": { readonly id: string; readonly name: string; readonly key: string };
  "project.list": readonly ProjectInfo[];
  "key.add": { readonly id: string; readonly name: string | null; readonly key: string };
  "key.list": readonly KeyInfo[];
  /** `isLast`: no other key opens the project. */
  "key.find": { readonly key: KeyInfo; readonly isLast: boolean };
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
  reminder: { readonly after_seconds: number | null; readonly channel: ReminderChannel };
  autopilot: ShownAutopilot;
  settings: ConfiguredSettings;
  configuration: ProjectConfiguration;
  configure: ConfiguredInfo;
  "survey.preview": PreviewInfo;
  "trend.add": TrendInfo;
  "trend.list": readonly TrendInfo[];
  "trend.remove": { readonly id: string };
  /** The contents of the copy; or the problem that kept it from being written, and then there is none. */
  backup: StoreContents | { readonly problem: string };
  vacuum: VacuumInfo;
  "history.add": Imported;
}

export type AdminKind = AdminCommand["kind"];
export type CommandOf<Kind extends AdminKind> = Extract<AdminCommand, { readonly kind: Kind }>;

/** One function for each kind of command. */
export type Handlers = { readonly [Kind in AdminKind]: (command: CommandOf<Kind>) => Promise<AdminResults[Kind]> };

const LOOKS: ReadonlySet<AdminKind> = new Set([
  "project.list",
  "key.list",
  "key.find",
  "configuration",
  "survey.preview",
  "survey.link",
  "trend.list",
  "link.list",
  "share.list",
  "question.list",
  "question.show",
  "delivery.list",
  "delivery.days",
  "delivery.show",
  "delivery.status",
  "bounce.list",
  "webhook.list",
  "webhook.deliveries",
  "digest.list",
  "digest.preview",
  "digest.test",
  "backup",
]);

/** True for a command that may change what is stored: some only show, where nothing is given to them. */
export function changesSomething(command: AdminCommand): boolean {
  const { kind } = command;
  if (LOOKS.has(kind)) return false;
  if (kind === "erase" || kind === "configure" || kind === "retention") return !command.dryRun;
  if (kind === "settings") return Object.keys(command.change).length > 0;
  if (kind === "texts") return Object.keys(command.change).length > 0;
  if (kind === "throttle") return command.seconds !== undefined;
  if (kind === "reminder") return command.after !== undefined || command.channel !== undefined;
  if (kind === "autopilot") return Object.values(command.change).some((value) => value !== undefined);
  if (kind === "brand") return [command.name, command.color, command.logo].some((part) => part !== undefined);
  return true;
}

/** Carries out one command. Throws AdminError for what cannot be done as asked. */
export type Admin = <Kind extends AdminKind>(command: CommandOf<Kind>) => Promise<AdminResults[Kind]>;

/** The command names something that is not there, or a value that cannot be: a sentence for the one who typed it. */
export class AdminError extends Error {
  override readonly name = "AdminError";
}

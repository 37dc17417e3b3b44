/** The questions of the `service …` commands, and their answers. */
import { accessOf, isOperation, type OperationCall, type OperationName, type ResultOf } from "../operations/index.ts";
import type { ConflictPolicy, Imported } from "../domain/history/import-people.ts";
import type { PastRows } from "../domain/history/import-responses.ts";
import type { StoreContents } from "../domain/ports.ts";
import type { BounceCommand, BounceResults } from "./bounce/commands.ts";
import type { DeliveryCommand, DeliveryResults } from "./delivery/commands.ts";
import type { PrivacyCommand, PrivacyResults } from "./privacy/commands.ts";
import type { PageCommand, PageResults } from "./page/commands.ts";
import type { ProjectCommand, ProjectResults } from "./project/commands.ts";
import type { QuestionCommand, QuestionResults } from "./question/commands.ts";
import type { DigestCommand, DigestResults } from "./digest/commands.ts";
import type { SettingsCommand, SettingsResults } from "./settings/commands.ts";
import type { WebhookCommand, WebhookResults } from "./webhook/commands.ts";

export type AdminCommand =
  | DeliveryCommand
  | PageCommand
  | OperationCall
  | QuestionCommand
  | BounceCommand
  | WebhookCommand
  | DigestCommand
  | PrivacyCommand
  | ProjectCommand
  | SettingsCommand
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
  | { readonly kind: "vacuum" }
  /** The clock and the newest write; `reset` ends the lead of the latter. */
  | { readonly kind: "clock"; readonly reset: boolean };

interface ClockInfo {
  /** Unix seconds. */
  readonly clock: number;
  readonly newest_write: number;
  /** By which the clock is behind the newest write; 0 while that is no more than a correction of the clock. */
  readonly behind: number;
}

interface VacuumInfo {
  readonly bytes_before: number;
  readonly bytes: number;
}

type OperationResults = { readonly [Name in OperationName]: ResultOf<Name> };

export interface AdminResults
  extends
    DeliveryResults,
    PageResults,
    OperationResults,
    QuestionResults,
    BounceResults,
    WebhookResults,
    DigestResults,
    PrivacyResults,
    ProjectResults,
    SettingsResults {
  /** The contents of the copy; or the problem that kept it from being written, and then there is none. */
  backup: StoreContents | { readonly problem: string };
  vacuum: VacuumInfo;
  clock: ClockInfo;
  "history.add": Imported;
}

export type AdminKind = AdminCommand["kind"];
export type CommandOf<Kind extends AdminKind> = Extract<AdminCommand, { readonly kind: Kind }>;

/** One function for each kind of command. */
export type Handlers = {
  readonly [Kind in Exclude<AdminKind, OperationName>]: (command: CommandOf<Kind>) => Promise<AdminResults[Kind]>;
};

const LOOKS: ReadonlySet<AdminKind> = new Set([
  "project.list",
  "key.list",
  "key.find",
  "configuration",
  "survey.preview",
  "survey.link",
  "link.list",
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
  if (isOperation(command)) return accessOf(command) === "write";
  if (LOOKS.has(kind)) return false;
  if (kind === "erase" || kind === "configure" || kind === "retention") return !command.dryRun;
  if (kind === "settings") return Object.keys(command.change).length > 0;
  if (kind === "texts") return Object.keys(command.change).length > 0;
  if (kind === "clock") return command.reset;
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

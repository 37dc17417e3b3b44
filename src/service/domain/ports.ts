/**
 * The store that the rules need: an engine implements `Store`; the rules get a `Transaction` and give it plain rows.
 * Ids are whole numbers, counted from 1 within each project; every method takes the project's id first and can neither
 * see nor touch another project's rows. `…At` is Unix seconds, inclusive where it bounds a list.
 */

import type { UnavailableError } from "./errors.ts";
import type { LongChanges } from "../sql/long-changes.ts";
import type { DigestRows } from "./delivery/rows/digest-rows.ts";
import type { QueueRows } from "./delivery/rows/queue-rows.ts";
import type { DeliveryRows } from "./delivery/rows/delivery-rows.ts";
import type { SenderRows } from "./delivery/rows/sender-rows.ts";
import type { ReportRows } from "./delivery/rows/report-rows.ts";
import type { RequestRows } from "./delivery/rows/request-rows.ts";
import type { HistoryRows } from "./history/history-rows.ts";
import type { ErasureRows } from "./privacy/erasure-rows.ts";
import type { RetentionRows } from "./privacy/retention-rows.ts";
import type { QuestionRows } from "./questions/question-rows.ts";
import type { LinkRows } from "./link-rows.ts";
import type { PersonRows } from "./people/person-rows.ts";
import type { ProjectRows } from "./projects/project-rows.ts";
import type { ResponseRows } from "./answers/response-rows.ts";
import type { StoreContents } from "./rows.ts";
import type { SecretRows } from "./secret-rows.ts";
import type { ClockRows } from "./clock-rows.ts";
import type { SuppressionRows } from "./people/suppression-rows.ts";
import type { TableRows } from "./moving/table-rows.ts";
import type { TrendRows } from "./answers/trend-rows.ts";
import type { ShareRows } from "./shares/share-rows.ts";
import type { TextRows } from "./sms/text-rows.ts";
import type { AutopilotRows } from "./surveys/autopilot/autopilot-rows.ts";
import type { UnscheduledRows } from "./surveys/unscheduled/unscheduled-rows.ts";
import type { WebhookRows } from "./webhooks/webhook-rows.ts";

export type * from "./delivery/rows/digest-rows.ts";
export type * from "./delivery/queue-rows.ts";
export type * from "./delivery/rows.ts";
export type * from "./privacy/rows.ts";
export type * from "./questions/question-rows.ts";
export type * from "./link-rows.ts";
export type * from "./answers/response-columns.ts";
export type * from "./answers/response-rows.ts";
export type * from "./answers/trend-rows.ts";
export type * from "./clock-rows.ts";
export type * from "./people/person-columns.ts";
export type * from "./people/person-rows.ts";
export type * from "./people/suppression-rows.ts";
export type * from "./projects/project-rows.ts";
export type * from "./moving/table-rows.ts";
export type * from "./rows.ts";
export type * from "./surveys/autopilot/autopilot-rows.ts";
export type * from "./surveys/unscheduled/unscheduled-rows.ts";
export type * from "./sms/text-rows.ts";
export type * from "./webhooks/webhook.ts";

export interface StoreAbout {
  readonly engine: "sqlite" | "postgresql";
  /** The version of its schema. */
  readonly schema: number;
}

export interface StoreCommit {
  readonly outcome: "committed" | "rolled_back";
  /** Writes that shared it. */
  readonly jobs: number;
  readonly seconds: number;
}

export interface StoreWatch {
  /** A statement has ended; BEGIN and COMMIT are some, too. */
  readonly onStatement?: () => void;
  readonly onCommit?: (commit: StoreCommit) => void;
  /** A write transaction runs again; `none` if the connection was lost. */
  readonly onRetry?: (sqlstate: string) => void;
  /** How long a write transaction waited for its project's lock. */
  readonly onLocked?: (seconds: number) => void;
}

/** `waiting` counts units of work without a connection. */
export type StoreConnections = Readonly<Record<"active" | "idle" | "waiting", number>>;

export interface Store {
  /** How often to look for what other processes have changed. */
  readonly pollSeconds: number;
  readonly about: StoreAbout;
  /** Null if the store has none. */
  connections(): StoreConnections | null;
  /** Age of the oldest snapshot in seconds; null if the store has no connections. */
  oldestTransaction(): Promise<number | null>;
  /** Why nothing can be saved now, such as a full disk; null while writes succeed. */
  trouble(): UnavailableError | null;
  /** Resolves if another program replaced the data: all later work is refused. */
  readonly lost: Promise<UnavailableError>;
  /** Rejects if the data isn't what was opened any more; `lost` resolves then, too. */
  verify(): Promise<void>;
  /** Runs `work` on one snapshot of committed data. */
  read<Result>(work: (tx: Transaction) => Promise<Result>, options?: ReadOptions): Promise<Result>;
  /**
   * Runs `work` as a transaction and resolves once it is durable. Writes that wait together share one commit; work
   * that throws is rolled back alone and rejects with its own error. Writes of one project run in the order of their
   * calls.
   */
  write<Result>(work: (tx: Transaction) => Promise<Result>, options: WriteOptions): Promise<Result>;
  /** Waits for changes that go in steps, which go on without it. Rejects with the error of a step that failed. */
  settle(): Promise<void>;
  /** Copies all that was acknowledged before the call to a new file. Rejects with the system's error. */
  backup(file: string): Promise<StoreContents>;
  /** Gives the space of deleted rows back to the disk, while writes wait. */
  vacuum(): Promise<Vacuumed>;
  /**
   * Makes sure that what was deleted is in none of the store's files any more, with these texts as a proof. False when
   * one of them is still found there: in a row that was not deleted, or in a file too large to be written anew now.
   * Without texts the file is written anew unless it is too large. Null where only the engine itself can know.
   */
  clean(texts: readonly string[]): Promise<boolean | null>;
  /** Faults of the data, a sentence a finding. */
  check(): Promise<readonly string[]>;
  /** Waits for running work. Later work is refused. */
  close(): Promise<void>;
}

export interface Vacuumed {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface ReadOptions {
  /** It may take minutes; an engine may break off work that doesn't say so. */
  readonly isLong?: boolean;
}

export interface WriteOptions extends ReadOptions {
  /** The only project whose rows change; `none` for rows of the whole service. `all` makes every other write wait. */
  readonly project: number | "none" | "all";
  /** How long the work may wait for other writes to share its commit; 0 by default. */
  readonly mayWaitMs?: number;
}

/** One unit of work. Never kept after the work has ended. */
export interface Transaction {
  /** The clock's time, frozen for the whole transaction, Unix seconds. */
  readonly now: number;
  /** The same in Unix milliseconds. */
  readonly nowMs: number;
  /** For `updated_at`, Unix seconds; see `writeTime`. */
  readonly updatedAt: number;
  /** The address of the service as seen from outside, without a slash at the end; events for webhooks link there. */
  readonly appUrl: string;
  /** Changes of many rows, in steps. */
  readonly changes: LongChanges;
  /** Unguessable URL-safe text of 22 characters, for links that anybody who has them may open. */
  token(): string;
  readonly clock: ClockRows;
  readonly projects: ProjectRows;
  readonly people: PersonRows;
  readonly requests: RequestRows;
  readonly unscheduled: UnscheduledRows;
  readonly queue: QueueRows;
  readonly deliveries: DeliveryRows;
  readonly senders: SenderRows;
  readonly reports: ReportRows;
  readonly texts: TextRows;
  readonly digests: DigestRows;
  readonly responses: ResponseRows;
  readonly trends: TrendRows;
  readonly questions: QuestionRows;
  readonly autopilot: AutopilotRows;
  readonly suppressions: SuppressionRows;
  readonly links: LinkRows;
  readonly shares: ShareRows;
  readonly secrets: SecretRows;
  readonly webhooks: WebhookRows;
  readonly history: HistoryRows;
  readonly tables: TableRows;
  readonly erasures: ErasureRows;
  readonly retention: RetentionRows;
}

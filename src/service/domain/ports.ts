/**
 * The store that the rules need: an engine implements `Store`; the rules get a `Transaction` and give it plain rows.
 * Ids are whole numbers, counted from 1 within each project; every method takes the project's id first and can neither
 * see nor touch another project's rows. `…At` is Unix seconds, inclusive where it bounds a list.
 */

import type { UnavailableError } from "./errors.ts";
import type { DigestRows } from "./delivery/digest-rows.ts";
import type { QueueRows } from "./delivery/queue-rows.ts";
import type { DeliveryRows, ReportRows, RequestRows } from "./delivery/rows.ts";
import type { HistoryRows } from "./history/rows.ts";
import type { ErasureRows, RetentionRows } from "./privacy/rows.ts";
import type { QuestionRows } from "./questions/rows.ts";
import type { LinkRows } from "./link-rows.ts";
import type {
  PersonRows,
  ProjectRows,
  ResponseRows,
  SecretRows,
  StoreContents,
  SuppressionRows,
  TableRows,
  TrendRows,
} from "./rows.ts";
import type { ShareRows } from "./shares/share-rows.ts";
import type { TextRows } from "./sms/text-rows.ts";
import type { AutopilotRows } from "./surveys/autopilot-rows.ts";
import type { UnscheduledRows } from "./surveys/unscheduled/unscheduled-rows.ts";
import type { ClockRows } from "./write-time.ts";
import type { WebhookRows } from "./webhooks/webhook-rows.ts";

export type * from "./delivery/digest-rows.ts";
export type * from "./delivery/queue-rows.ts";
export type * from "./delivery/rows.ts";
export type * from "./privacy/rows.ts";
export type * from "./questions/rows.ts";
export type * from "./link-rows.ts";
export type * from "./rows.ts";
export type * from "./surveys/autopilot-rows.ts";
export type * from "./surveys/autopilot-settings.ts";
export type * from "./surveys/unscheduled/unscheduled-rows.ts";
export type * from "./sms/text-rows.ts";
export type * from "./webhooks/webhook-rows.ts";

export interface StoreAbout {
  readonly engine: "sqlite" | "postgresql";
  /** The version of its schema. */
  readonly schema: number;
}

/** A write transaction that has ended. */
export interface StoreCommit {
  readonly outcome: "committed" | "rolled_back";
  /** The number of writes that shared it. */
  readonly jobs: number;
  readonly seconds: number;
}

/** The results of writes, for those who count them. */
export interface StoreWatch {
  readonly onCommit?: (commit: StoreCommit) => void;
  /** A write transaction is run again; by its SQLSTATE, or `none` when the connection was lost. */
  readonly onRetry?: (sqlstate: string) => void;
  /** The time for which a write transaction waited for the lock of its project. */
  readonly onLocked?: (seconds: number) => void;
}

/** The load of a store that keeps connections to a server; `waiting` are units of work without one. */
export type StoreConnections = Readonly<Record<"active" | "idle" | "waiting", number>>;

export interface Store {
  /** Other processes may change the data at any time; this one polls for changes after so many seconds. */
  readonly pollSeconds: number;
  readonly about: StoreAbout;
  /** Null where there are none. */
  connections(): StoreConnections | null;
  /** Age of the oldest snapshot in the database, in seconds; null where there are no connections. */
  oldestTransaction(): Promise<number | null>;
  /** The reason why nothing can be saved at present, a full disk for one; null while writes succeed. */
  trouble(): UnavailableError | null;
  /** Resolves when the data has been given up, since another program changed it: all later work is refused. */
  readonly lost: Promise<UnavailableError>;
  /** Looks whether the data is still what was opened; `lost` resolves when it is not. Rejects then, too. */
  verify(): Promise<void>;
  /** Runs `work` on one snapshot of committed data. */
  read<Result>(work: (tx: Transaction) => Promise<Result>, options?: ReadOptions): Promise<Result>;
  /**
   * Runs `work` as a transaction and resolves once it is durable. Writes that wait together share one commit; work
   * that throws is rolled back alone and rejects with its own error. Writes of one project run in the order of their
   * calls.
   */
  write<Result>(work: (tx: Transaction) => Promise<Result>, options?: WriteOptions): Promise<Result>;
  /**
   * Resolves once changes over many rows, which are made in steps, are through; at once when there are none. They go
   * on without it, and after a crash when the store opens again. Rejects with the error of a step that failed.
   */
  settle(): Promise<void>;
  /**
   * Writes a whole, consistent copy to a new file while the store is read and written, and resolves with what it holds:
   * all that had been acknowledged before the call. Rejects with the system's error when the file cannot be written.
   */
  backup(file: string): Promise<StoreContents>;
  /** Gives back the space of deleted rows, while writes wait. Resolves with the sizes before and after. */
  vacuum(): Promise<Vacuumed>;
  /**
   * Makes sure that what was deleted is in none of the store's files any more, with these texts as a proof. False when
   * one of them is still found there: in a row that was not deleted, or in a file too large to be written anew now.
   * Without texts the file is written anew unless it is too large. Null where only the engine itself can know.
   */
  clean(texts: readonly string[]): Promise<boolean | null>;
  /** The faults of the data file, a sentence a finding; empty when it is sound. */
  check(): Promise<readonly string[]>;
  /** Waits for running work, then frees the file. Later work is refused. */
  close(): Promise<void>;
}

export interface Vacuumed {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface ReadOptions {
  /** It may take minutes; absent: an engine may break it off. */
  readonly isLong?: boolean;
}

export interface WriteOptions extends ReadOptions {
  /**
   * The only project whose rows the work changes; `none`: rows of the service as a whole, such as which processes live.
   * Absent: whichever, and on an engine that several processes share the work then waits for the writes of all
   * projects.
   */
  readonly project?: number | "none";
  /** The milliseconds for which the work may wait for other writes to share its commit with; absent: none. */
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
  /** Unguessable URL-safe text of 22 characters, for links that anybody who has them may open. */
  token(): string;
  readonly clock: ClockRows;
  readonly projects: ProjectRows;
  readonly people: PersonRows;
  readonly requests: RequestRows;
  readonly unscheduled: UnscheduledRows;
  readonly queue: QueueRows;
  readonly deliveries: DeliveryRows;
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

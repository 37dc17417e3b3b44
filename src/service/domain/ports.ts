/**
 * Ids are integers, numbered within each project. Methods take the project's id first and only affect its rows. `…At`
 * is Unix seconds, inclusive as a bound.
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
import type { OperationLogRows, Overwritten } from "./operation-log/operation-log-rows.ts";
import type { RetentionRows } from "./privacy/retention-rows.ts";
import type { QuestionRows } from "./questions/question-rows.ts";
import type { LinkRows } from "./links/link-rows.ts";
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
import type { UnscheduledRows } from "./surveys/unscheduled-rows.ts";
import type { WebhookRows } from "./webhooks/webhook-rows.ts";

export type * from "./delivery/rows/digest-rows.ts";
export type * from "./delivery/queue-rows.ts";
export type * from "./delivery/rows.ts";
export type * from "./privacy/erasure-rows.ts";
export type * from "./privacy/retention-rows.ts";
export type * from "./questions/question-rows.ts";
export type * from "./links/link-rows.ts";
export type * from "./answers/response-columns.ts";
export type * from "./answers/response-rows.ts";
export type * from "./answers/trend-rows.ts";
export type * from "./people/person-columns.ts";
export type * from "./people/person-rows.ts";
export type * from "./people/suppression-rows.ts";
export type * from "./projects/project-rows.ts";
export type * from "./moving/table-rows.ts";
export type * from "./operation-log/operation-log-rows.ts";
export type * from "./rows.ts";
export type * from "./surveys/autopilot/autopilot-rows.ts";
export type * from "./surveys/unscheduled-rows.ts";
export type * from "./sms/text-rows.ts";
export type * from "./webhooks/webhook.ts";

export interface StoreAbout {
  readonly engine: "sqlite" | "postgresql";
  readonly schema: number;
}

export interface StoreCommit {
  readonly outcome: "committed" | "rolled_back";
  readonly jobs: number;
  readonly seconds: number;
}

export interface StoreWatch {
  readonly onStatement?: () => void;
  readonly onCommit?: (commit: StoreCommit) => void;
  /** Called before a write transaction is retried, with `none` if the connection was lost. */
  readonly onRetry?: (sqlstate: string) => void;
  readonly onLocked?: (seconds: number) => void;
}

/** `waiting` counts jobs without a connection. */
export type StoreConnections = Readonly<Record<"active" | "idle" | "waiting", number>>;

export interface Store {
  readonly pollSeconds: number;
  readonly about: StoreAbout;
  connections(): StoreConnections | null;
  /** Age of the oldest snapshot in seconds; null if the store doesn't use connections. */
  oldestTransaction(): Promise<number | null>;
  /** Why nothing can be saved now, such as a full disk; null while writes succeed. */
  trouble(): UnavailableError | null;
  /** Resolves if another program replaced the data; all later work is then refused. */
  readonly lost: Promise<UnavailableError>;
  /** Rejects if the data is no longer what was opened; `lost` then resolves too. */
  verify(): Promise<void>;
  read<Result>(work: (tx: Transaction) => Promise<Result>, options?: ReadOptions): Promise<Result>;
  /**
   * Runs `work` as a transaction and resolves once it is durable. Waiting writes share a commit, but if the work of one
   * throws, only that is rolled back, and its write rejects with the error. Writes to a project run in call order.
   */
  write<Result>(work: (tx: Transaction) => Promise<Result>, options: WriteOptions): Promise<Result>;
  /** Waits for long changes. Rejects with the error of a failed step. */
  settle(): Promise<void>;
  /** Copies everything acknowledged so far to a new file. Rejects with the system's error. */
  backup(file: string): Promise<StoreContents>;
  /** Returns the space of deleted rows to the file system. Blocks writes. */
  vacuum(): Promise<Vacuumed>;
  /** Empties the log, in which deleted rows are readable. Rejects while another program reads it; null if unknown. */
  clean(): Promise<true | null>;
  check(): Promise<readonly string[]>;
  /** Waits for running work and rejects later work. */
  close(): Promise<void>;
}

export interface Vacuumed {
  readonly bytesBefore: number;
  readonly bytesAfter: number;
}

export interface ReadOptions {
  /** The work may take minutes. Engines can cancel other work much earlier. */
  readonly isLong?: boolean;
}

export interface WriteOptions extends ReadOptions {
  /** The only project whose rows may change; `none` for rows of the whole service. `all` blocks every other write. */
  readonly project: number | "none" | "all";
  /** How long the work may wait to share a commit with others; 0 by default. */
  readonly mayWaitMs?: number;
}

export interface Transaction {
  /** Unix seconds; doesn't change during a transaction. */
  readonly now: number;
  readonly nowMs: number;
  /** The value for `updated_at`, Unix seconds; see `writeTime`. */
  readonly updatedAt: number;
  /** The service's public address without a trailing slash, for links in webhook events. */
  readonly appUrl: string;
  readonly changes: LongChanges;
  /** Returns 22 URL-safe characters, for links that need no key. */
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
  readonly operationLog: OperationLogRows;
  /** Changes to log. Only set during an API call. */
  readonly overwritten?: Overwritten[];
}

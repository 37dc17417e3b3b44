import type { Random } from "../../../runtime/random.ts";
import type { Transaction } from "../../domain/ports.ts";
import type { WriteTime } from "../../domain/write-time.ts";
import type { Database, Session } from "../../sql/database.ts";
import { HistoryRows } from "../../domain/history/history-rows.ts";
import { LinkRows } from "../../domain/links/link-rows.ts";
import { QuestionRows } from "../../domain/questions/question-rows.ts";
import { ResponseRows } from "../../domain/answers/response-rows.ts";
import { ShareRows } from "../../domain/shares/share-rows.ts";
import { TrendRows } from "../../domain/answers/trend-rows.ts";
import { fillTrendStep, removeTrendStep } from "../../domain/answers/trends.ts";
import { ClockRows } from "../../domain/clock-rows.ts";
import { DeliveryRows } from "../../domain/delivery/rows/delivery-rows.ts";
import { SenderRows } from "../../domain/delivery/rows/sender-rows.ts";
import { DigestRows } from "../../domain/delivery/rows/digest-rows.ts";
import { ReportRows } from "../../domain/delivery/rows/report-rows.ts";
import { QueueRows } from "../../domain/delivery/rows/queue-rows.ts";
import { RequestRows } from "../../domain/delivery/rows/request-rows.ts";
import { UnscheduledRows } from "../../domain/surveys/unscheduled-rows.ts";
import { TextRows } from "../../domain/sms/text-rows.ts";
import { type LongChange, type LongChangeKind, LongChanges, type LongChangesOptions } from "../../sql/long-changes.ts";
import { AutopilotRows } from "../../domain/surveys/autopilot/autopilot-rows.ts";
import { rescheduleStep } from "../../domain/surveys/autopilot/autopilot-steps.ts";
import { ErasureRows } from "../../domain/privacy/erasure-rows.ts";
import { removePersonStep } from "../../domain/people/person-removal.ts";
import { PersonRows } from "../../domain/people/person-rows.ts";
import { SuppressionRows } from "../../domain/people/suppression-rows.ts";
import { removeProjectStep } from "../../domain/projects/project-removal.ts";
import { ProjectRows } from "../../domain/projects/project-rows.ts";
import { OperationLogRows } from "../../domain/operation-log/operation-log-rows.ts";
import { RetentionRows } from "../../domain/privacy/retention-rows.ts";
import { SecretRows } from "../../domain/secret-rows.ts";
import { TableRows } from "../../domain/moving/table-rows.ts";
import { WebhookRows } from "../../domain/webhooks/webhook-rows.ts";

export interface StoreRowsOptions extends LongChangesOptions {
  readonly random: Random;
  readonly appUrl: () => string;
  readonly onWebhookEvent: () => void;
  readonly isOneTransaction?: boolean;
}

export interface StoreRows {
  /** Begins a transaction at the given time. There can be only one at a time. */
  readonly begin: (time: WriteTime) => Transaction;
}

const TOKEN_BYTES = 16;
const TOKEN_LENGTH = 22;
const SECRET_BYTES = 32;

export function createStoreRows(
  database: Database,
  { random, appUrl, onWebhookEvent, isOneTransaction = false, ...options }: StoreRowsOptions,
): StoreRows {
  const session: Session = { now: 0, updatedAt: 0 };
  const running: { tx: Transaction | null } = { tx: null };
  const changes = new LongChanges(database, (change) => STEPS[change.kind](running.tx!, change), options);
  const secrets = new SecretRows(database, () => random.token(SECRET_BYTES), isOneTransaction);
  const suppressions = new SuppressionRows(database, session, secrets);
  const rows = {
    changes,
    token: () => random.token(TOKEN_BYTES),
    clock: new ClockRows(database, session),
    projects: new ProjectRows(database, session),
    people: new PersonRows(database, session),
    requests: new RequestRows(database, session),
    unscheduled: new UnscheduledRows(database, session),
    queue: new QueueRows(database, session),
    deliveries: new DeliveryRows(database, session),
    senders: new SenderRows(database, session),
    reports: new ReportRows(database, session),
    texts: new TextRows(database, session),
    digests: new DigestRows(database, session),
    responses: new ResponseRows(database, session),
    trends: new TrendRows(database, session),
    questions: new QuestionRows(database, session),
    autopilot: new AutopilotRows(database, session),
    suppressions,
    links: new LinkRows(database, session),
    shares: new ShareRows(database, session),
    secrets,
    webhooks: new WebhookRows(database, session, onWebhookEvent),
    tables: new TableRows(database, session),
    erasures: new ErasureRows(database, session, suppressions),
    retention: new RetentionRows(database, session),
    operationLog: new OperationLogRows(database, session),
    history: new HistoryRows(database, session, (count) => drawTokens(random, count)),
  };
  return {
    begin: ({ nowMs, updatedAt }) => {
      Object.assign(session, { now: Math.floor(nowMs / 1000), updatedAt });
      // Inherits from `rows`, because copying them would take 2% of a read.
      return (running.tx = Object.assign(Object.create(rows) as typeof rows, {
        now: session.now,
        nowMs,
        updatedAt,
        appUrl: appUrl(),
      }));
    },
  };
}

/** Draws all tokens at once, because a million separate draws would take much of an import's time. */
function drawTokens(random: Random, count: number): string[] {
  const text = random.token(Math.ceil((count * TOKEN_LENGTH * 3) / 4));
  return Array.from({ length: count }, (_, at) => text.slice(at * TOKEN_LENGTH, (at + 1) * TOKEN_LENGTH));
}

const STEPS: Readonly<Record<LongChangeKind, (tx: Transaction, change: LongChange) => Promise<number | null>>> = {
  "fill trend": fillTrendStep,
  "remove trend": removeTrendStep,
  "remove person": removePersonStep,
  "remove project": removeProjectStep,
  reschedule: rescheduleStep,
};

/** All rows of a store over one database: what a transaction is made of, and the changes that go in steps. */
import type { Random } from "../../../runtime/random.ts";
import type { Transaction } from "../../domain/ports.ts";
import type { WriteTime } from "../../domain/write-time.ts";
import type { Database, Session } from "../../sql/database.ts";
import { createHistoryRows } from "./rows/answers/history-rows.ts";
import { createLinkRows } from "./rows/answers/link-rows.ts";
import { createQuestionRows } from "./rows/answers/question-rows.ts";
import { createResponseRows } from "./rows/answers/response-rows.ts";
import { createShareRows } from "./rows/answers/share-rows.ts";
import { createTrendRows, fillTrendStep, removeTrendStep } from "./rows/answers/trend-rows.ts";
import { createClockRows } from "./rows/clock-rows.ts";
import { createDeliveryRows } from "./rows/delivery/delivery-rows.ts";
import { createDigestRows } from "./rows/delivery/digest-rows.ts";
import { createReportRows } from "./rows/delivery/report-rows.ts";
import { createQueueRows } from "./rows/delivery/queue-rows.ts";
import { createRequestRows } from "./rows/delivery/request-rows.ts";
import { createUnscheduledRows } from "./rows/delivery/unscheduled-rows.ts";
import { createTextRows } from "./rows/delivery/text-rows.ts";
import { createLongChanges, type LongChangeKind, type Step } from "./rows/long-changes.ts";
import { createAutopilotRows } from "./rows/people/autopilot-rows.ts";
import { rescheduleStep } from "./rows/people/autopilot-steps.ts";
import { createErasureRows } from "./rows/people/erasure-rows.ts";
import { removePersonStep } from "./rows/people/person-removal.ts";
import { createPersonRows } from "./rows/people/person-rows.ts";
import { createSuppressionRows } from "./rows/people/suppression-rows.ts";
import { createProjectRows } from "./rows/project-rows.ts";
import { createRetentionRows } from "./rows/retention-rows.ts";
import { createFileSecrets, createSecretRows } from "./rows/secret-rows.ts";
import { createTableRows } from "./rows/table-rows.ts";
import { createWebhookRows } from "./rows/webhook-rows.ts";

export interface StoreRowsOptions {
  readonly random: Random;
  /** The address of the service as seen from outside, without a slash at the end. */
  readonly appUrl: () => string;
  /** Called within each transaction that writes an event for webhooks. */
  readonly onWebhookEvent: () => void;
  /** True where the rows are used for one transaction alone. */
  readonly isOneTransaction?: boolean;
  /** True when changes that go in steps may be noted; the rows set it. */
  readonly isNoted: { value: boolean };
}

/** A transaction as the store itself has it. */
export interface StoreTransaction extends Transaction {
  /** The project of a change that goes in steps; null when there is none. */
  readonly changingProject: () => Promise<number | null>;
  /** Does one step of such a change in this project, if there still is one. */
  readonly step: (project: number) => Promise<void>;
}

export interface StoreRows {
  /** A transaction at that time. One at a time. */
  readonly begin: (time: WriteTime) => StoreTransaction;
}

/** 16 bytes: 22 characters. */
const TOKEN_BYTES = 16;
const TOKEN_LENGTH = 22;
const SECRET_BYTES = 32;

export function createStoreRows(
  database: Database,
  { random, appUrl, onWebhookEvent, isOneTransaction = false, isNoted }: StoreRowsOptions,
): StoreRows {
  const session: Session = { now: 0, updatedAt: 0 };
  const changes = createLongChanges(database, createSteps(database, session), isNoted);
  const secrets = createFileSecrets(database, () => random.token(SECRET_BYTES), isOneTransaction);
  const rows = {
    token: () => random.token(TOKEN_BYTES),
    clock: createClockRows(database, session),
    projects: createProjectRows(database, session),
    people: createPersonRows(database, changes),
    requests: createRequestRows(database, session),
    unscheduled: createUnscheduledRows(database, session),
    queue: createQueueRows(database, session),
    deliveries: createDeliveryRows(database, session),
    reports: createReportRows(database, session),
    texts: createTextRows(database, session),
    digests: createDigestRows(database, session),
    responses: createResponseRows(database),
    trends: createTrendRows(database, session, changes),
    questions: createQuestionRows(database),
    autopilot: createAutopilotRows(database, session, changes),
    suppressions: createSuppressionRows(database, secrets),
    links: createLinkRows(database, session),
    shares: createShareRows(database, session),
    secrets: createSecretRows(secrets),
    webhooks: createWebhookRows(database, session, onWebhookEvent),
    tables: createTableRows(database),
    erasures: createErasureRows(database, secrets),
    retention: createRetentionRows(database, session),
    history: createHistoryRows(database, secrets, (count) => manyTokens(random, count)),
  };
  return {
    begin: ({ nowMs, updatedAt }) => {
      Object.assign(session, { now: Math.floor(nowMs / 1000), updatedAt });
      // To copy the rows into each would cost a read a fiftieth of its time.
      return Object.assign(Object.create(rows) as typeof rows, {
        now: session.now,
        nowMs,
        updatedAt,
        appUrl: appUrl(),
        changingProject: () => changes.project(),
        step: (project: number) => changes.step(project),
      });
    },
  };
}

/** One draw for all tokens: a million draws would take a good part of an import. */
function manyTokens(random: Random, count: number): string[] {
  const text = random.token(Math.ceil((count * TOKEN_LENGTH * 3) / 4));
  return Array.from({ length: count }, (_, at) => text.slice(at * TOKEN_LENGTH, (at + 1) * TOKEN_LENGTH));
}

/** The step of each kind of long change. */
function createSteps(database: Database, session: Session): Readonly<Record<LongChangeKind, Step>> {
  return {
    "fill trend": (change) => fillTrendStep(database, change),
    "remove trend": (change) => removeTrendStep(database, change),
    "remove person": (change) => removePersonStep(database, change),
    reschedule: (change) => rescheduleStep(database, session.now, change),
  };
}

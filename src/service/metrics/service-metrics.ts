/** All metrics except those of requests. */
import { type Clock, withTimeout } from "../../runtime/clock.ts";
import {
  createCounter,
  createHistogram,
  type Family,
  readAtMostEvery,
  type MetricSample,
  writeFamily,
} from "../../runtime/metrics.ts";
import { createUsageReader } from "../../runtime/process-usage.ts";
import { VERSION } from "../../runtime/version.ts";
import type { DeliveryMetrics, DueQueue, SenderStates } from "./delivery-metrics.ts";
import { livingSenders } from "../domain/delivery/living.ts";
import { countDue, summarizeQueue } from "../domain/delivery/oversight.ts";
import type { KeptSender, ProjectNumbers, Store, StoreAbout, StoreConnections, StoreWatch } from "../domain/ports.ts";
import { readLead } from "../domain/write-time.ts";
import type { AttemptMeaning } from "../domain/webhooks/attempts.ts";
import { projectMetrics, readProjectNumbers } from "./project-metrics.ts";
import { summarizeWebhooks, webhookMetrics, type WebhookSummary } from "./webhook-metrics.ts";

/** Durations are in seconds. */
const FAMILIES = {
  build: {
    name: "surveyctl_build_info",
    type: "gauge",
    help: "Always 1; what runs is in the labels.",
    labels: ["version", "engine", "schema"],
  },
  cpu: { name: "surveyctl_process_cpu_seconds_total", type: "counter", help: "User and system time of the process." },
  memory: { name: "surveyctl_process_resident_memory_bytes", type: "gauge", help: "Memory of the process." },
  lag: {
    name: "surveyctl_nodejs_eventloop_lag_p99_seconds",
    type: "gauge",
    help: "How late timers were, 99th percentile since the last reading.",
  },
  clock: {
    name: "surveyctl_clock_behind_seconds",
    type: "gauge",
    help: "How far the clock is behind the newest write, if by more than five minutes; else 0.",
  },
  scheduler: {
    name: "surveyctl_scheduler_last_success_timestamp_seconds",
    type: "gauge",
    help: "When the scheduler last looked for due surveys without an error; at most a minute ago while it is well.",
  },
  statements: {
    name: "surveyctl_store_statements_total",
    type: "counter",
    help: "Statements that the store has run; BEGIN and COMMIT count, too.",
  },
  transactions: {
    name: "surveyctl_store_transactions_total",
    type: "counter",
    help: "Write transactions, by how they ended.",
    labels: ["outcome"],
  },
  transactionTime: {
    name: "surveyctl_store_transaction_duration_seconds",
    type: "histogram",
    help: "Time from the begin of a write transaction until it is durable.",
  },
  batch: {
    name: "surveyctl_store_batch_jobs",
    type: "histogram",
    help: "Writes that shared one transaction.",
  },
} as const satisfies Record<string, Family>;

/** Only for a store with connections and locks. */
export const POSTGRESQL_FAMILIES = {
  retries: {
    name: "surveyctl_store_retries_total",
    type: "counter",
    help: "Transactions that were run again, by the reason.",
    labels: ["sqlstate"],
  },
  connections: {
    name: "surveyctl_store_connections",
    type: "gauge",
    help: "Connections to the database, by what they do.",
    labels: ["state"],
  },
  lockWait: {
    name: "surveyctl_store_lock_wait_seconds",
    type: "histogram",
    help: "Time that transactions waited for their project's lock.",
  },
  oldestTransaction: {
    name: "surveyctl_store_oldest_transaction_age_seconds",
    type: "gauge",
    help: "Age of the oldest snapshot in the database; an old one slows all writes.",
  },
} as const satisfies Record<string, Family>;

const TRANSACTION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const;

/** Scrapes within this time share one reading of the store. */
const GAUGES_KEPT_MS = 10_000;
/** Prometheus allows ten seconds per scrape. */
const STORE_TIMEOUT_MS = 4000;

export interface ServiceMetrics {
  readonly watch: Required<StoreWatch>;
  /** Called when the scheduler has looked for due surveys. */
  readonly countTurn: () => void;
  /** If the store doesn't answer, its metrics are left out. */
  readonly lines: (sources: Sources) => Promise<readonly string[]>;
}

interface Sources {
  readonly store: Store;
  readonly deliveries: DeliveryMetrics;
  readonly senders: Omit<SenderStates, "kept">;
  /** Attempts to send events since the start. */
  readonly webhookAttempts: ReadonlyMap<AttemptMeaning["kind"], number>;
}

interface Summary {
  readonly lead: number;
  readonly oldestTransaction: number | null;
  readonly queue: DueQueue;
  readonly webhooks: WebhookSummary;
  readonly projects: readonly ProjectNumbers[];
  /** Of all processes. */
  readonly senders: readonly KeptSender[];
}

export function createServiceMetrics(clock: Clock): ServiceMetrics {
  const statements = { count: 0 };
  const commits = createCounter([["committed"], ["rolled_back"]]);
  const commitTime = createHistogram(FAMILIES.transactionTime, TRANSACTION_BUCKETS);
  const batchJobs = createHistogram(FAMILIES.batch, BATCH_BUCKETS);
  const retries = createCounter();
  const lockWait = createHistogram(POSTGRESQL_FAMILIES.lockWait, TRANSACTION_BUCKETS);
  const scheduler = { lastSuccessMs: 0 };
  const readUsage = createUsageReader();
  const usage = readAtMostEvery(clock, GAUGES_KEPT_MS, async () => readUsage());
  const state: { summarize: (() => Promise<Summary>) | null } = { summarize: null };
  const serverLines = (connections: StoreConnections, oldestTransaction: number | null): readonly string[] => [
    ...writeFamily(POSTGRESQL_FAMILIES.retries, retries.samples()),
    ...lockWait.lines(),
    ...writeFamily(
      POSTGRESQL_FAMILIES.connections,
      Object.entries(connections).map(([doing, count]): MetricSample => [[doing], count]),
    ),
    ...(oldestTransaction === null
      ? []
      : writeFamily(POSTGRESQL_FAMILIES.oldestTransaction, [[[], oldestTransaction]])),
  ];
  return {
    watch: {
      onStatement: () => {
        statements.count += 1;
      },
      onCommit: ({ outcome, jobs, seconds }) => {
        commits.add([outcome]);
        commitTime.observe(seconds);
        batchJobs.observe(jobs);
      },
      onRetry: (sqlstate) => retries.add([sqlstate]),
      onLocked: (seconds) => lockWait.observe(seconds),
    },
    countTurn: () => {
      scheduler.lastSuccessMs = clock.now();
    },
    lines: async ({ store, deliveries, senders, webhookAttempts }) => {
      // Before this reading takes a connection itself.
      const connections = store.connections();
      const summarize = (state.summarize ??= readAtMostEvery(clock, GAUGES_KEPT_MS, () => readSummary(store)));
      const summary = await withTimeout(clock, STORE_TIMEOUT_MS, summarize(), null).catch(() => null);
      return [
        ...deliveries.lines(summary?.queue ?? null, { ...senders, kept: summary?.senders ?? [] }),
        ...webhookMetrics(summary?.webhooks ?? null, webhookAttempts),
        ...(summary === null ? [] : projectMetrics(summary.projects)),
        ...(summary === null ? [] : writeFamily(FAMILIES.clock, [[[], summary.lead]])),
        ...writeFamily(FAMILIES.statements, [[[], statements.count]]),
        ...writeFamily(FAMILIES.transactions, commits.samples()),
        ...commitTime.lines(),
        ...batchJobs.lines(),
        ...(connections === null ? [] : serverLines(connections, summary?.oldestTransaction ?? null)),
        ...writeFamily(FAMILIES.scheduler, [[[], scheduler.lastSuccessMs / 1000]]),
        ...processLines(await usage(), store.about),
      ];
    },
  };
}

async function readSummary(store: Store): Promise<Summary> {
  const oldestTransaction = await store.oldestTransaction();
  const rest = await store.read(async (tx) => ({
    lead: await readLead(tx),
    queue: { ...(await summarizeQueue(tx)), due: await countDue(tx) },
    webhooks: await summarizeWebhooks(tx),
    projects: await readProjectNumbers(tx),
    senders: await livingSenders(tx),
  }));
  return { oldestTransaction, ...rest };
}

function processLines(
  { cpuSeconds, residentBytes, eventLoopLagSeconds }: ReturnType<ReturnType<typeof createUsageReader>>,
  { engine, schema }: StoreAbout,
): readonly string[] {
  const gauges: readonly (readonly [Family, MetricSample])[] = [
    [FAMILIES.build, [[VERSION, engine, String(schema)], 1]],
    [FAMILIES.cpu, [[], cpuSeconds]],
    [FAMILIES.memory, [[], residentBytes]],
    [FAMILIES.lag, [[], eventLoopLagSeconds]],
  ];
  return gauges.flatMap(([family, sample]) => writeFamily(family, [sample]));
}

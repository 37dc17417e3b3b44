import { type Clock, withTimeout } from "../../runtime/clock.ts";
import {
  Counter,
  type Family,
  Histogram,
  type MetricSample,
  readAtMostEvery,
  writeCounter,
  writeGauge,
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

/** Only for stores with connections and locks. */
export const POSTGRESQL_FAMILIES = {
  retries: {
    name: "surveyctl_store_retries_total",
    help: "Transactions that were run again, by the reason.",
    labels: ["sqlstate"],
  },
  connections: {
    name: "surveyctl_store_connections",
    help: "Connections to the database, by what they do.",
    labels: ["state"],
  },
  lockWait: {
    name: "surveyctl_store_lock_wait_seconds",
    help: "Time that transactions waited for their project's lock.",
  },
  oldestTransaction: {
    name: "surveyctl_store_oldest_transaction_age_seconds",
    help: "Age of the oldest snapshot in the database; an old one slows all writes.",
  },
} as const satisfies Record<string, Family>;

const BUILD: Family = {
  name: "surveyctl_build_info",
  help: "Always 1; what runs is in the labels.",
  labels: ["version", "engine", "schema"],
};
const CPU: Family = { name: "surveyctl_process_cpu_seconds_total", help: "User and system time of the process." };
const MEMORY: Family = { name: "surveyctl_process_resident_memory_bytes", help: "Memory of the process." };
const LAG: Family = {
  name: "surveyctl_nodejs_eventloop_lag_p99_seconds",
  help: "How late timers were, 99th percentile since the last reading.",
};
const CLOCK_BEHIND: Family = {
  name: "surveyctl_clock_behind_seconds",
  help: "How far the clock is behind the newest write, if by more than five minutes; else 0.",
};
const SCHEDULER_SUCCESS: Family = {
  name: "surveyctl_scheduler_last_success_timestamp_seconds",
  help: "When the scheduler last looked for due surveys without an error; at most a minute ago while it is well.",
};

const TRANSACTION_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10] as const;
const BATCH_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256, 512] as const;

/** Scrapes within this time share one query of the store. */
const GAUGES_KEPT_MS = 10_000;
/** Well below Prometheus's default scrape timeout of ten seconds. */
const STORE_TIMEOUT_MS = 4000;

type ProcessUsage = ReturnType<ReturnType<typeof createUsageReader>>;

interface Sources {
  readonly store: Store;
  readonly deliveries: DeliveryMetrics;
  readonly senders: Omit<SenderStates, "kept">;
  readonly webhookAttempts: ReadonlyMap<AttemptMeaning["kind"], number>;
}

interface Summary {
  readonly lead: number;
  readonly oldestTransaction: number | null;
  readonly queue: DueQueue;
  readonly webhooks: WebhookSummary;
  readonly projects: readonly ProjectNumbers[];
  readonly senders: readonly KeptSender[];
}

export class ServiceMetrics {
  readonly #clock: Clock;
  readonly #statements = new Counter(
    {
      name: "surveyctl_store_statements_total",
      help: "Statements that the store has run; BEGIN and COMMIT count, too.",
    },
    [[]],
  );
  readonly #commits = new Counter(
    {
      name: "surveyctl_store_transactions_total",
      help: "Write transactions, by how they ended.",
      labels: ["outcome"],
    },
    [["committed"], ["rolled_back"]],
  );
  readonly #commitTime = new Histogram(
    {
      name: "surveyctl_store_transaction_duration_seconds",
      help: "Time from the begin of a write transaction until it is durable.",
    },
    TRANSACTION_BUCKETS,
  );
  readonly #batchJobs = new Histogram(
    { name: "surveyctl_store_batch_jobs", help: "Writes that shared one transaction." },
    BATCH_BUCKETS,
  );
  readonly #retries = new Counter(POSTGRESQL_FAMILIES.retries);
  readonly #lockWait = new Histogram(POSTGRESQL_FAMILIES.lockWait, TRANSACTION_BUCKETS);
  readonly #usage: () => Promise<ProcessUsage>;
  #schedulerSuccessMs = 0;
  #summarize: (() => Promise<Summary>) | null = null;

  constructor(clock: Clock) {
    const readUsage = createUsageReader();
    this.#clock = clock;
    this.#usage = readAtMostEvery(clock, GAUGES_KEPT_MS, async () => readUsage());
  }

  readonly watch: Required<StoreWatch> = {
    onStatement: () => this.#statements.add(),
    onCommit: ({ outcome, jobs, seconds }) => {
      this.#commits.add([outcome]);
      this.#commitTime.observe(seconds);
      this.#batchJobs.observe(jobs);
    },
    onRetry: (sqlstate) => this.#retries.add([sqlstate]),
    onLocked: (seconds) => this.#lockWait.observe(seconds),
  };

  countTurn(): void {
    this.#schedulerSuccessMs = this.#clock.now();
  }

  /** Omits the store's metrics if the store doesn't respond. */
  async lines({ store, deliveries, senders, webhookAttempts }: Sources): Promise<readonly string[]> {
    // Counts connections before reading the summary, which uses one itself.
    const connections = store.connections();
    this.#summarize ??= readAtMostEvery(this.#clock, GAUGES_KEPT_MS, () => readSummary(store));
    const summary = await withTimeout(this.#clock, STORE_TIMEOUT_MS, this.#summarize(), null).catch(() => null);
    return [
      ...deliveries.lines(summary?.queue ?? null, { ...senders, kept: summary?.senders ?? [] }),
      ...webhookMetrics(summary?.webhooks ?? null, webhookAttempts),
      ...(summary === null ? [] : projectMetrics(summary.projects)),
      ...(summary === null ? [] : writeGauge(CLOCK_BEHIND, summary.lead)),
      ...this.#statements.lines(),
      ...this.#commits.lines(),
      ...this.#commitTime.lines(),
      ...this.#batchJobs.lines(),
      ...(connections === null ? [] : this.#serverLines(connections, summary?.oldestTransaction ?? null)),
      ...writeGauge(SCHEDULER_SUCCESS, this.#schedulerSuccessMs / 1000),
      ...processLines(await this.#usage(), store.about),
    ];
  }

  #serverLines(connections: StoreConnections, oldestTransaction: number | null): readonly string[] {
    const states = Object.entries(connections).map(([state, count]): MetricSample => [[state], count]);
    return [
      ...this.#retries.lines(),
      ...this.#lockWait.lines(),
      ...writeGauge(POSTGRESQL_FAMILIES.connections, states),
      ...(oldestTransaction === null ? [] : writeGauge(POSTGRESQL_FAMILIES.oldestTransaction, oldestTransaction)),
    ];
  }
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
  { cpuSeconds, residentBytes, eventLoopLagSeconds }: ProcessUsage,
  { engine, schema }: StoreAbout,
): readonly string[] {
  return [
    ...writeGauge(BUILD, [[[VERSION, engine, String(schema)], 1]]),
    ...writeCounter(CPU, cpuSeconds),
    ...writeGauge(MEMORY, residentBytes),
    ...writeGauge(LAG, eventLoopLagSeconds),
  ];
}

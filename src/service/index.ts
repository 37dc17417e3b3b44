/** The service, wired: store, rules, HTTP, scheduler, delivery, control. */
import path from "node:path";
import { unixSeconds, type Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Random } from "../runtime/random.ts";
import type { Admin } from "./control/commands.ts";
import { createAdmin } from "./control/create-admin.ts";
import { removeControlFile } from "./control/control-file.ts";
import { createOutbox } from "./delivery/outbox.ts";
import type { DeliveryOutcome } from "./domain/delivery.ts";
import type { Store } from "./domain/ports.ts";
import { createHttpService, type Face, type ServerExchange } from "./http/create-http-service.ts";
import type { RateLimit } from "./http/rate-limit.ts";
import { openDataFile } from "./open-data-file.ts";
import { createScheduler } from "./scheduler/scheduler.ts";

export interface ServiceOptions {
  /** Created when it does not exist; `outbox/` lies beside it. */
  readonly dataFile: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Where the service is seen from outside, without a slash at the end; null: wherever requests are sent to. */
  readonly publicUrl: string | null;
  readonly rateLimit: RateLimit | null;
}

/** `handle` is one request, one answer; no port needed. */
export interface Service extends Face {
  /** As `handle`, for callers on this machine: lists go on where they were asked for, whatever the public URL is. */
  readonly handleLocally: ServerExchange;
  readonly admin: Admin;
  readonly store: Store;
  readonly clock: Clock;
  /** What links in messages begin with, once the address is known. */
  setAddress(url: string): void;
  /** From now on what is due is delivered. */
  startScheduler(): void;
  /** Ends the scheduler once nothing is due any more. */
  finishDue(): Promise<void>;
  /** Whether `/readyz` says so; false as soon as the service drains. */
  setReady(isReady: boolean): void;
  /** Lets the delivery in hand finish and frees the data file. */
  close(): Promise<void>;
}

/** Where `serve` listens unless it is told otherwise; links of messages made without a server begin with it. */
export const DEFAULT_ADDRESS = "http://127.0.0.1:8080";

/** Throws AlreadyServedError, StoreBusyError, StoreFileError. */
export async function openService(options: ServiceOptions): Promise<Service> {
  const { dataFile, clock, random, log, publicUrl } = options;
  const store = await openDataFile(options);
  // We own the file now: what a killed server left beside it names nobody.
  await removeControlFile(dataFile);
  const state = { address: publicUrl ?? DEFAULT_ADDRESS, isReady: true };
  const count = createDeliveryCount();
  const logError = (error: unknown): void =>
    log.error("delivery", { error: error instanceof Error ? error.message : String(error) });
  const outbox = createOutbox(path.join(path.dirname(path.resolve(dataFile)), "outbox"), logError);
  const scheduler = createScheduler({
    store,
    clock,
    claimer: random.token(9),
    deliver: async (surveys) =>
      count.add(await outbox.deliver(surveys, { appUrl: state.address, now: unixSeconds(clock) })),
    onError: logError,
  });
  const http = createHttpService({
    ...options,
    store,
    onScheduled: scheduler.wake,
    moreMetrics: count.metrics,
    isReady: () => state.isReady,
  });
  const admin = createAdmin({
    store,
    clock,
    random,
    addSession: http.keys.addSession,
    onRevoke: http.keys.forget,
    onSchedule: scheduler.wake,
  });
  return {
    handle: http.handle,
    refuse: http.refuse,
    handleLocally: http.handleLocally,
    admin,
    store,
    clock,
    setAddress: (url) => {
      state.address = publicUrl ?? url;
    },
    startScheduler: scheduler.start,
    finishDue: scheduler.finish,
    setReady: (isReady) => {
      state.isReady = isReady;
    },
    close: async () => {
      await scheduler.stop();
      await store.close();
      log.flush();
    },
  };
}

interface DeliveryCount {
  readonly add: (outcomes: readonly DeliveryOutcome[]) => readonly DeliveryOutcome[];
  readonly metrics: () => string;
}

function createDeliveryCount(): DeliveryCount {
  const counts: Record<DeliveryOutcome["kind"], number> = { sent: 0, bounced: 0, retry: 0 };
  return {
    add: (outcomes) => {
      for (const { kind } of outcomes) counts[kind] += 1;
      return outcomes;
    },
    metrics: () =>
      [
        "# HELP surveyctl_deliveries_total Surveys handed over, by how that ended.",
        "# TYPE surveyctl_deliveries_total counter",
        ...Object.entries(counts).map(
          ([outcome, number]) => `surveyctl_deliveries_total{outcome="${outcome}"} ${number}`,
        ),
        "",
      ].join("\n"),
  };
}

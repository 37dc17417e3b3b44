/** The service, built from top to bottom. */
import type { Clock } from "../runtime/clock.ts";
import { type Core, openCore, openSenders } from "./core.ts";
import type { Store } from "./domain/ports.ts";
import type { Administration } from "./http/administration.ts";
import type { KeyRing } from "./http/authentication.ts";
import {
  createHttpService,
  createKeys,
  type HttpHandler,
  type HttpService,
  type PathHandler,
  type ServerExchange,
} from "./http/create-http-service.ts";
import { openPaths } from "./public-paths.ts";
import { createHeartbeat } from "./sending/heartbeat.ts";
import { Scheduler } from "./sending/scheduler.ts";
import type { Senders } from "./sending/senders.ts";
import { keepFlags } from "./server-flags.ts";
import { logOverdue, logPaused, logStart } from "./service-log.ts";
import type { ServiceOptions } from "./service-options.ts";
import { Upkeep } from "./upkeep.ts";
import { Dispatcher } from "./webhook/dispatcher.ts";

export function openSending(core: Core, senders: Senders): Scheduler {
  const { options, store, process: claimer, deliveries, failures, metrics, loops } = core;
  const { clock, log, maxAgeSeconds = null, knowsOutbox, onUnknown = "hold" } = options;
  const scheduler = new Scheduler({
    store,
    clock,
    claimer,
    heartbeat: createHeartbeat({ store, clock, claimer, onUnknown }),
    maxAgeSeconds,
    onUnknown,
    senders: senders.replies === null ? senders.all : [...senders.all, senders.replies],
    files: senders.outbox,
    holdsAllFiles: knowsOutbox !== false,
    guardsOverdue: knowsOutbox !== false,
    onOutcome: (due, result, seconds) => {
      if (result.kind === "sent") failures.end();
      deliveries.count(due, result, seconds);
    },
    onTurn: metrics.countTurn,
    onOverdue: (held) => logOverdue(log, held, maxAgeSeconds ?? 0),
    onPaused: (pause) => logPaused(log, pause),
    onError: failures.add,
  });
  loops.messages = scheduler;
  return scheduler;
}

export interface Http extends Omit<HttpService, "handleOperators"> {
  /** Metrics and health, for a separate listener. */
  readonly operators: HttpHandler;
  readonly setReady: (isReady: boolean) => void;
}

export interface HttpParts {
  readonly keys: KeyRing;
  readonly senders: Pick<Senders, "all" | "outboxChannels" | "paced">;
  /** Messages of people who are gone; see `Scheduler.sweep`. */
  readonly sweep: () => Promise<number | null>;
  /** Absent in a process that sends no events. */
  readonly webhooks?: Pick<Dispatcher, "attempts">;
  readonly handlers?: readonly PathHandler[];
}

export function openHttp(core: Core, { keys, senders, sweep, webhooks, handlers = [] }: HttpParts): Http {
  const { options, store, metrics, deliveries, process, loops } = core;
  const state: { isReady: boolean; administration: Promise<Administration> | null } = {
    isReady: true,
    administration: null,
  };
  const wake = (dueAt?: number): void => loops.messages?.wake(dueAt);
  const { handle, handleLocally, handleOperators, refuse } = createHttpService({
    ...options,
    store,
    keys,
    handlers,
    // Most servers are never administered over HTTP.
    administration: () =>
      (state.administration ??= import("./operation-tools.ts").then(({ openAdministration }) =>
        openAdministration(core, senders, sweep),
      )),
    outboxChannels: senders.outboxChannels,
    onScheduled: wake,
    moreMetrics: () => {
      const webhookAttempts = webhooks?.attempts() ?? new Map();
      return metrics.lines({ store, deliveries, senders: { own: senders.paced, process }, webhookAttempts });
    },
    isReady: () => state.isReady && store.trouble() === null,
  });
  /** A deleted person's messages go too. */
  const wakingAfterDelete =
    (exchange: ServerExchange): ServerExchange =>
    async (request) => {
      const response = await exchange(request);
      if (request.method === "DELETE") wake();
      return response;
    };
  return {
    handle: wakingAfterDelete(handle),
    handleLocally: wakingAfterDelete(handleLocally),
    operators: { handle: handleOperators, refuse },
    refuse,
    setReady: (isReady) => {
      state.isReady = isReady;
    },
  };
}

export function openKeys({ options: { clock, rateLimit }, store }: Core): KeyRing {
  return createKeys(store, clock, rateLimit);
}

export interface Service extends Http {
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves if the data file becomes unusable: nothing is acknowledged any more, so close the service. */
  readonly lost: Promise<Error>;
  /** Rejects with ForeignOutboxError if others could read or change messages. */
  checkOutbox(): Promise<void>;
  /** Sets where links in messages begin; commands on the same data use it too. */
  setAddress(url: string): Promise<void>;
  /** Starts sending messages and events. */
  start(): void;
  /** Logs what happened while opening, and from then on what happens to the data file. */
  startLog(options?: { readonly isAnnounced: boolean }): void;
  /** Stops claiming and lets transmissions finish. `close` does this too. */
  stop(): Promise<void>;
  /** Lets the delivery in progress finish and closes the data file. */
  close(): Promise<void>;
}

export async function openService(options: ServiceOptions): Promise<Service> {
  return (await buildService(await openCore(options))).service;
}

export interface BuiltService {
  readonly service: Service;
  readonly senders: Senders;
  readonly sending: Scheduler;
}

/** For tests, which look at the parts as well. */
export async function buildService(core: Core): Promise<BuiltService> {
  const { options, store, address, failures, notices, loops } = core;
  const { clock, log } = options;
  const keys = openKeys(core);
  const senders = await openSenders(core);
  const sending = openSending(core, senders);
  const webhooks = new Dispatcher({
    ...options,
    store,
    own: address.own,
    mayStart: () => sending.isLeader(),
    onError: failures.add,
  });
  loops.events = webhooks;
  const upkeep = openUpkeep(core, senders, () => sending.sweep());
  const stop = async (): Promise<void> => {
    await Promise.all([upkeep.stop(), sending.stop(), webhooks.stop()]);
  };
  const service: Service = {
    ...openHttp(core, {
      keys,
      senders,
      sweep: () => sending.sweep(),
      webhooks,
      handlers: openPaths({ ...core, keys, appUrl: address.url, onText: () => sending.wake(), onError: failures.add }),
    }),
    store,
    clock,
    lost: store.lost,
    checkOutbox: senders.outbox.check,
    setAddress: async (url) => {
      await address.listen(store, url).catch(failures.add);
      await keepFlags(store, options, failures.add);
    },
    start: () => {
      upkeep.start();
      sending.start();
      webhooks.start();
    },
    startLog: ({ isAnnounced } = { isAnnounced: false }) => {
      notices.release(isAnnounced ? "created" : null);
      logStart(log, store.about);
    },
    stop,
    close: async () => {
      await stop();
      await senders.close();
      await store.close();
      log.flush();
    },
  };
  return { service, senders, sending };
}

function openUpkeep(
  { options, store, keepErasures, failures }: Core,
  { outbox }: Senders,
  sweepMessages: () => Promise<unknown>,
) {
  const { clock, log, outboxKeepSeconds = null } = options;
  const onError = failures.add;
  return new Upkeep({ store, clock, log, outbox, outboxKeepSeconds, keepErasures, sweepMessages, onError });
}

import type { Clock } from "../runtime/clock.ts";
import { VERSION } from "../runtime/version.ts";
import { type CommonParts, openCommonParts, openSenders } from "./common-parts.ts";
import type { Store } from "./domain/ports.ts";
import type { Administration } from "./http/administration.ts";
import { KeyRing } from "./http/authentication.ts";
import { type HttpHandler, HttpService, type PathHandler } from "./http/http-service.ts";
import { openPaths } from "./public-paths.ts";
import { Heartbeat } from "./sending/heartbeat.ts";
import { Scheduler } from "./sending/scheduler.ts";
import type { Senders } from "./sending/senders.ts";
import { keepFlags } from "./server-flags.ts";
import { logOverdue } from "./service-log.ts";
import type { ServiceOptions } from "./service-options.ts";
import { Upkeep } from "./upkeep.ts";
import { Dispatcher } from "./webhook/dispatcher.ts";

export function openSending(parts: CommonParts, senders: Senders): Scheduler {
  const { options, store, process: claimer, deliveries, failures, metrics, loops } = parts;
  const { clock, log, maxAgeSeconds = null, onUnknown = "hold" } = options;
  const scheduler = new Scheduler({
    ...options,
    store,
    claimer,
    heartbeat: new Heartbeat({ store, clock, claimer, onUnknown }),
    maxAgeSeconds,
    onUnknown,
    senders: senders.replies === null ? senders.all : [...senders.all, senders.replies],
    files: senders.outbox,
    onOutcome: (due, result, seconds) => {
      if (result.kind === "sent") failures.end();
      deliveries.count(due, result, seconds);
    },
    onTurn: () => metrics.countTurn(),
    onOverdue: (held) => logOverdue(log, held, maxAgeSeconds ?? 0),
    onPaused: ({ at, reason }) => {
      log.warn("sending_paused", { since: at, message: `no survey is sent: ${reason ?? "sending was paused"}` });
    },
    onError: failures.add,
  });
  loops.messages = scheduler;
  return scheduler;
}

export interface HttpParts {
  readonly keys: KeyRing;
  readonly senders: Pick<Senders, "all" | "outboxChannels" | "paced">;
  readonly sweep: () => Promise<number | null>;
  readonly isReady: () => boolean;
  readonly webhooks?: Pick<Dispatcher, "attempts">;
  readonly handlers?: readonly PathHandler[];
}

export function openHttp(parts: CommonParts, { sweep, webhooks, handlers = [], ...http }: HttpParts): HttpService {
  const { options, store, metrics, deliveries, process, loops } = parts;
  const { senders } = http;
  const state: { administration: Promise<Administration> | null } = { administration: null };
  return new HttpService({
    ...options,
    ...http,
    store,
    handlers,
    // Loaded on demand, because most servers are never administered over HTTP.
    administration: () =>
      (state.administration ??= import("./operation-tools.ts").then(({ openAdministration }) =>
        openAdministration(parts, senders, sweep),
      )),
    outboxChannels: senders.outboxChannels,
    wake: (dueAt) => loops.messages?.wake(dueAt),
    moreMetrics: () => {
      const webhookAttempts = webhooks?.attempts() ?? new Map();
      return metrics.lines({ store, deliveries, senders: { own: senders.paced, process }, webhookAttempts });
    },
  });
}

export async function openService(options: ServiceOptions): Promise<Service> {
  const parts = await openCommonParts(options);
  return new Service(parts, await openSenders(parts));
}

export class Service implements HttpHandler {
  readonly store: Store;
  readonly clock: Clock;
  readonly sending: Scheduler;
  readonly #parts: CommonParts;
  readonly #senders: Senders;
  readonly #webhooks: Dispatcher;
  readonly #upkeep: Upkeep;
  readonly #http: HttpService;
  #isReady = true;

  constructor(parts: CommonParts, senders: Senders) {
    const { options, store, address, deliveries, failures, loops } = parts;
    const { clock, rateLimit, outboxKeepSeconds = null } = options;
    const onError = failures.add;
    const keys = new KeyRing(store, clock, rateLimit);
    const sending = openSending(parts, senders);
    const sweep = (): Promise<number | null> => sending.sweep();
    const appUrl = (): string => address.url;
    const onText = (): void => sending.wake();
    this.store = store;
    this.clock = clock;
    this.sending = sending;
    this.#parts = parts;
    this.#senders = senders;
    this.#webhooks = new Dispatcher({
      ...options,
      store,
      own: () => address.own,
      mayStart: () => sending.isLeader(),
      onError,
    });
    loops.events = this.#webhooks;
    this.#upkeep = new Upkeep({
      ...options,
      ...parts,
      outbox: senders.outbox,
      outboxKeepSeconds,
      sweepMessages: sweep,
      onError,
    });
    this.#http = openHttp(parts, {
      keys,
      senders,
      sweep,
      isReady: () => this.#isReady && store.trouble() === null,
      webhooks: this.#webhooks,
      handlers: openPaths({ options, store, keys, deliveries, appUrl, onText, onError }),
    });
  }

  readonly handle: HttpHandler["handle"] = (request) => this.#http.handle(request, "main");

  readonly refuse: HttpHandler["refuse"] = (error, method) => this.#http.refuse(error, method);

  readonly operators: HttpHandler = {
    handle: (request) => this.#http.handle(request, "metrics"),
    refuse: this.refuse,
  };

  setReady(isReady: boolean): void {
    this.#isReady = isReady;
  }

  checkOutbox(): Promise<void> {
    return this.#senders.outbox.check();
  }

  /** Sets the base of links in messages, also for commands on the same data. */
  async setAddress(url: string): Promise<void> {
    const { options, address, failures } = this.#parts;
    await address.listen(this.store, url).catch(failures.add);
    await keepFlags(this.store, options, failures.add);
  }

  start(): void {
    this.#upkeep.start();
    this.sending.start();
    this.#webhooks.start();
  }

  startLog({ isAnnounced } = { isAnnounced: false }): void {
    const { options, notices, store } = this.#parts;
    notices.release(isAnnounced ? "created" : null);
    options.log.info("started", { version: VERSION, engine: store.about.engine, schema: store.about.schema });
  }

  /** Stops claiming and lets transmissions finish. `close` does this too. */
  async stop(): Promise<void> {
    await Promise.all([this.#upkeep.stop(), this.sending.stop(), this.#webhooks.stop()]);
  }

  /** Lets the delivery in progress finish, then closes the data file. */
  async close(): Promise<void> {
    await this.stop();
    await this.#senders.close();
    await this.store.close();
    this.#parts.options.log.flush();
  }
}

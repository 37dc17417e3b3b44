import type { Clock } from "../runtime/clock.ts";
import type { Store } from "./domain/ports.ts";
import { type Base, openBase } from "./parts/base.ts";
import { createHttp, type Http, openKeys } from "./parts/http.ts";
import { closeAll, handlersOf, type Part, startAll, stopAll } from "./parts/part.ts";
import { createBounceHookPart, createPagesPart, createSharePart, createSmsHookPart } from "./parts/public-paths.ts";
import { openSenders, type Senders } from "./parts/senders.ts";
import { createSending, type Sending } from "./parts/sending.ts";
import { openUpkeep } from "./parts/upkeep.ts";
import { createWebhooks } from "./parts/webhooks.ts";
import { keepFlags } from "./server-flags.ts";
import { logStart } from "./service-log.ts";
import type { ServiceOptions } from "./service-options.ts";

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
  return (await openParts(await openBase(options))).service;
}

export interface ServiceParts {
  readonly service: Service;
  readonly senders: Senders;
  readonly sending: Sending;
}

/** For tests: the service and its parts on an open store. */
export async function openParts(base: Base): Promise<ServiceParts> {
  const keys = openKeys(base);
  const senders = await openSenders(base);
  const sending = createSending(base, senders);
  const webhooks = createWebhooks(base, sending.isLeader);
  const parts: readonly Part[] = [
    openUpkeep(base, senders.outbox, sending.sweep),
    sending,
    webhooks,
    senders,
    createPagesPart(base, keys),
    createSharePart(base),
    createSmsHookPart(base),
    createBounceHookPart(base),
  ];
  const http = createHttp(base, { keys, senders, webhooks, handlers: handlersOf(parts) });
  const { store, clock, log, notices } = base;
  const service: Service = {
    ...http,
    store,
    clock,
    lost: store.lost,
    checkOutbox: senders.outbox.check,
    setAddress: (url) => keepFlags(base, url),
    start: () => startAll(parts),
    startLog: ({ isAnnounced } = { isAnnounced: false }) => {
      notices.release(isAnnounced ? "created" : null);
      logStart(log, store.about);
    },
    stop: () => stopAll(parts),
    close: async () => {
      await closeAll(parts);
      await store.close();
      log.flush();
    },
  };
  return { service, senders, sending };
}

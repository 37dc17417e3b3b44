/** The service as a list of its parts. */
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

/** `handle` is one request, one answer; no port needed. */
export interface Service extends Http {
  readonly store: Store;
  readonly clock: Clock;
  /** Resolves when the data file had to be given up; nothing is acknowledged any more, and `close` is due. */
  readonly lost: Promise<Error>;
  /** Rejects with ForeignOutboxError when others could read or change messages. */
  checkOutbox(): Promise<void>;
  /** The beginning of links in messages, once the address is known; keeps the part that commands ask for. */
  setAddress(url: string): Promise<void>;
  /** Starts to send what is due, messages and events. */
  start(): void;
  /** Logs what was noticed while the service was opened, and from then on what happens to the data file. */
  startLog(options?: { readonly isAnnounced: boolean }): void;
  /** Claims nothing more and lets transmissions end; `close` does so too. */
  stop(): Promise<void>;
  /** Lets the delivery in progress finish and frees the data file. */
  close(): Promise<void>;
}

/** Throws StoreFileError, StoreDatabaseError. */
export async function openService(options: ServiceOptions): Promise<Service> {
  return (await openParts(await openBase(options))).service;
}

export interface ServiceParts {
  readonly service: Service;
  readonly senders: Senders;
  readonly sending: Sending;
}

/** The service on an open store, and the parts of it that tests look at. */
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

/** A server's hourly work: removes old messages, logs and answers, and finishes interrupted erasures. */
import type { Clock } from "../runtime/clock.ts";
import type { Log } from "../runtime/log.ts";
import type { Outbox } from "./sending/outbox.ts";
import { pruneAttempts, pruneUnscheduled } from "./domain/delivery/oversight.ts";
import type { Store } from "./domain/ports.ts";
import { finishErasure } from "./domain/privacy/erase.ts";
import { followRetention } from "./domain/privacy/retention.ts";
import { pruneEvents } from "./domain/webhooks/webhooks.ts";
import { readLead } from "./domain/write-time.ts";

const POLL_MS = 5_000;
const PRUNE_MS = 3_600_000;
const PRUNED_A_STEP = 1000;

export interface UpkeepOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly log: Log;
  readonly outbox: Outbox;
  readonly outboxKeepSeconds: number | null;
  readonly keepErasures: () => Promise<void>;
  readonly sweepMessages: () => Promise<unknown>;
  readonly onError: (error: unknown) => void;
}

export class Upkeep {
  readonly #options: UpkeepOptions;
  readonly #stopping = new AbortController();
  #loop: Promise<void> | null = null;

  constructor(options: UpkeepOptions) {
    this.#options = options;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop;
  }

  #mayGoOn = (): boolean => !this.#stopping.signal.aborted;

  async #run(): Promise<void> {
    const { store, clock, log } = this.#options;
    let nextPruneMs = clock.monotonic();
    let isBehind = false;
    while (this.#mayGoOn()) {
      if (clock.monotonic() >= nextPruneMs) {
        await this.#prune();
        nextPruneMs = clock.monotonic() + PRUNE_MS;
      }
      const lead = await store.read(readLead).catch(() => 0);
      if (lead > 0 && !isBehind) {
        const message = `the clock is ${lead} s behind the newest write; set it right, or see service clock`;
        log.warn("clock_behind", { seconds: lead, message });
      }
      isBehind = lead > 0;
      // The store reports what it finds itself, so errors are ignored here.
      await store.verify().catch(() => undefined);
      await clock.sleep(POLL_MS, this.#stopping.signal).catch(() => undefined);
    }
  }

  /** A task that fails is tried again an hour later. */
  async #prune(): Promise<void> {
    const { store, outbox, outboxKeepSeconds, keepErasures, sweepMessages, onError } = this.#options;
    await keepErasures().catch(onError);
    await finishErasure(store, sweepMessages).catch(onError);
    await outbox.prune(outboxKeepSeconds).catch(onError);
    await forgetOld(store).catch(onError);
    await this.#followRetention().catch(onError);
  }

  async #followRetention(): Promise<void> {
    const { store } = this.#options;
    for (const project of await store.read((tx) => tx.projects.list()))
      await followRetention(store, project, this.#mayGoOn);
  }
}

async function forgetOld(store: Store): Promise<void> {
  // Nothing changes these rows any more, so no project needs to be locked.
  while (await store.write((tx) => pruneAttempts(tx, PRUNED_A_STEP), { project: "none" }));
  while (await store.write((tx) => pruneUnscheduled(tx, PRUNED_A_STEP), { project: "none" }));
  await pruneEvents(store);
}

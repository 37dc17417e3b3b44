/** One endpoint's pending events and running attempts. Each person's events stay in order. */
import { unixSeconds, type Clock } from "../../runtime/clock.ts";
import type { DueEvent, Store, WebhookRow } from "../domain/ports.ts";
import { type AttemptEnd, asksForPause } from "../domain/webhooks/attempts.ts";
import { signedHeaders } from "./sign.ts";
import { type EndpointOptions, EndpointTransport } from "./transport.ts";

export interface EndedAttempt {
  readonly queue: EndpointQueue;
  readonly due: DueEvent;
  readonly end: AttemptEnd;
}

export interface EndpointQueueOptions extends EndpointOptions {
  readonly clock: Clock;
  readonly store: Pick<Store, "read">;
  readonly onError: (error: unknown) => void;
  readonly onEnd: (attempt: EndedAttempt) => void;
  readonly signal: AbortSignal;
}

const AT_ONCE = 4;
const WAITING_MAX = 64;
const WAITING_LOW = 32;
/** Maximum number of finished but unrecorded events, in case the disk is slow. */
const HELD_MAX = 256;

export class EndpointQueue {
  readonly #options: EndpointQueueOptions;
  readonly #transport: EndpointTransport;
  readonly #waiting: DueEvent[] = [];
  readonly #running = new Map<DueEvent, Promise<void>>();
  /** Events that are pending, running or unrecorded, by number. */
  readonly #held = new Map<number, DueEvent>();
  readonly #busy = new Set<number>();
  /** Events whose response asked for a pause. No more are sent until it is recorded. */
  readonly #pauses = new Set<DueEvent>();
  #webhook: WebhookRow | null = null;

  constructor(options: EndpointQueueOptions) {
    this.#options = options;
    this.#transport = new EndpointTransport(options, AT_ONCE);
  }

  webhook(): WebhookRow {
    if (this.#webhook === null) throw new Error("nothing was taken yet");
    return this.#webhook;
  }

  /** How many due events to read, including those it already has; 0 if there is no room. */
  wanted(): number {
    const isFull = this.#waiting.length > WAITING_LOW || this.#held.size >= HELD_MAX;
    return isFull || this.#pauses.size > 0 ? 0 : this.#held.size + WAITING_MAX;
  }

  take(row: WebhookRow, due: readonly DueEvent[]): void {
    this.#webhook = row;
    for (const one of due.filter(({ event }) => !this.#held.has(event)).slice(0, WAITING_MAX)) {
      this.#held.set(one.event, one);
      this.#waiting.push(one);
    }
    this.#pump();
  }

  forget(due: DueEvent): void {
    this.#held.delete(due.event);
    this.#pauses.delete(due);
  }

  clear(): void {
    for (const { event } of this.#waiting.splice(0)) this.#held.delete(event);
  }

  size(): number {
    return this.#held.size;
  }

  async idle(): Promise<void> {
    await Promise.all(this.#running.values());
  }

  close(): void {
    this.#transport.close();
  }

  #pump(): void {
    const limit = this.webhook().strikes > 0 ? 1 : AT_ONCE;
    while (this.#running.size < limit && this.#pauses.size === 0 && !this.#options.signal.aborted) {
      const at = this.#waiting.findIndex(({ personId }) => !this.#busy.has(personId));
      const [due] = at === -1 ? [] : this.#waiting.splice(at, 1);
      if (due === undefined) break;
      this.#busy.add(due.personId);
      this.#running.set(due, this.#attempt(due));
    }
  }

  async #attempt(due: DueEvent): Promise<void> {
    const end = (await this.#isThere(due)) ? await this.#post(due) : null;
    this.#running.delete(due);
    this.#busy.delete(due.personId);
    if (end !== null && asksForPause(end.status)) {
      this.#pauses.add(due);
      this.clear();
    }
    if (end === null) this.#held.delete(due.event);
    else this.#options.onEnd({ queue: this, due, end });
    this.#pump();
  }

  /** Another process may have erased the person after their events were read. */
  async #isThere({ event }: DueEvent): Promise<boolean> {
    const { store, onError } = this.#options;
    const { project, id } = this.webhook();
    try {
      return (await store.read((tx) => tx.webhooks.delivery(project.id, id, event))) !== null;
    } catch (error) {
      onError(error);
      // Drops the waiting events, which will be read again in order.
      this.clear();
      return false;
    }
  }

  async #post({ eventId, body }: DueEvent): Promise<AttemptEnd | null> {
    const { clock, signal } = this.#options;
    const headers = signedHeaders(this.webhook(), { eventId, body }, unixSeconds(clock));
    return this.#transport.post(this.webhook(), headers, body, signal);
  }
}

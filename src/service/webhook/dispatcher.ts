import { type Clock, unixSeconds, withTimeout } from "../../runtime/clock.ts";
import { createWakeLoop, type WakeLoop } from "../../runtime/wake-loop.ts";
import type { Log } from "../../runtime/log.ts";
import type { Random } from "../../runtime/random.ts";
import type { Store, Transaction, WebhookRow } from "../domain/ports.ts";
import type { AttemptMeaning } from "../domain/webhooks/attempts.ts";
import { AttemptRecorder } from "./attempt-recorder.ts";
import { type EndedAttempt, EndpointQueue } from "./endpoint-queue.ts";
import type { EndpointOptions } from "./transport.ts";

export interface DispatcherOptions extends Pick<EndpointOptions, "own" | "resolve"> {
  readonly store: Store;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  readonly onError: (error: unknown) => void;
  readonly mayStart?: () => boolean;
}

const STOP_MS = 5_000;
/** How many events to read for an endpoint that has no queue yet. */
const FIRST_SHARE = 32;

export class Dispatcher {
  readonly #options: DispatcherOptions;
  readonly #leaving = new AbortController();
  readonly #queues = new Map<string, EndpointQueue>();
  readonly #recorder: AttemptRecorder;
  readonly #loop: WakeLoop;

  constructor(options: DispatcherOptions) {
    this.#options = options;
    this.#loop = createWakeLoop(options.clock, () => this.#sendDue(), options.onError);
    this.#recorder = new AttemptRecorder({
      ...options,
      onRecorded: this.#loop.wake,
      signal: this.#leaving.signal,
    });
  }

  start(): void {
    this.#loop.start();
  }

  wake(): void {
    this.#loop.wake();
  }

  /** Running attempts have five seconds to finish; unfinished ones are repeated after the next start. */
  async stop(): Promise<void> {
    await this.#loop.stop();
    for (const queue of this.#queues.values()) queue.clear();
    await withTimeout(this.#options.clock, STOP_MS, this.#settled(), null);
    this.#leaving.abort();
    await this.#settled();
    for (const queue of this.#queues.values()) queue.close();
  }

  attempts(): ReadonlyMap<AttemptMeaning["kind"], number> {
    return this.#recorder.counts;
  }

  async #sendDue(): Promise<number> {
    const { store, clock, mayStart = () => true } = this.#options;
    // Read before the events, so that none added by another process in the meantime are missed.
    const startedAt = unixSeconds(clock);
    const lookAt = startedAt + store.pollSeconds;
    // Only one process sends, so that no event is sent twice.
    if (!mayStart()) return lookAt;
    const { dueInSeconds, shares } = await store.read((tx) => readShares(tx, this.#queues));
    this.#closeOthers(new Set(shares.map(({ webhook }) => queueKey(webhook))));
    for (const { webhook, due, isSlow } of shares) {
      const queue = this.#getQueue(webhook);
      if (isSlow) queue.clear();
      queue.take(webhook, this.#loop.stopping.aborted ? [] : due);
    }
    return Math.min(startedAt + dueInSeconds, lookAt);
  }

  #getQueue(webhook: WebhookRow): EndpointQueue {
    const key = queueKey(webhook);
    const onEnd = (attempt: EndedAttempt): void => this.#recorder.add(attempt);
    const queue = this.#queues.get(key) ?? new EndpointQueue({ ...this.#options, onEnd, signal: this.#leaving.signal });
    this.#queues.set(key, queue);
    return queue;
  }

  #closeOthers(known: ReadonlySet<string>): void {
    for (const [key, queue] of this.#queues) {
      if (known.has(key)) continue;
      queue.clear();
      if (queue.size() === 0 && this.#queues.delete(key)) queue.close();
    }
  }

  async #settled(): Promise<void> {
    await Promise.all([...this.#queues.values()].map((queue) => queue.idle()));
    await this.#recorder.settled();
  }
}

function queueKey({ project, id }: WebhookRow): string {
  return `${project.id} ${id}`;
}

interface Share {
  readonly webhook: WebhookRow;
  readonly due: Awaited<ReturnType<Transaction["webhooks"]["due"]>>;
  readonly isSlow: boolean;
}

async function readShares(
  tx: Transaction,
  queues: ReadonlyMap<string, EndpointQueue>,
): Promise<{ readonly dueInSeconds: number; readonly shares: readonly Share[] }> {
  const shares: Share[] = [];
  const dues: number[] = [];
  for (const webhook of await tx.webhooks.list(null)) {
    const { project, id, disabledAt, slowUntil } = webhook;
    if (disabledAt !== null) continue;
    const isSlow = slowUntil !== null && slowUntil > tx.now;
    const limit = isSlow ? 0 : (queues.get(queueKey(webhook))?.wanted() ?? FIRST_SHARE);
    shares.push({ webhook, due: limit === 0 ? [] : await tx.webhooks.due(webhook, limit), isSlow });
    const next = isSlow ? slowUntil : await tx.webhooks.nextDueAt(project.id, id);
    if (next !== null) dues.push(next);
  }
  return { dueInSeconds: Math.min(...dues) - tx.now, shares };
}

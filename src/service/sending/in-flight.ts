import { type Clock, withTimeout } from "../../runtime/clock.ts";
import { groupByProject, allOrFirstError } from "../domain/by-project.ts";
import { finishDelivery, markTransmitting, mayStillSend, type OnUnknown } from "../domain/delivery/deliveries.ts";
import {
  ClaimLostError,
  type DeliveryOutcome,
  type DeliveryProgress,
  type DeliveryResult,
  type MessageSender,
} from "../domain/delivery/sender.ts";
import type { DueMessage, ErasedSurvey, FrozenMessage, Store, Transaction } from "../domain/ports.ts";

export interface InFlightOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly maxAgeSeconds: number | null;
  readonly onUnknown: OnUnknown;
  readonly onEnd: () => void;
  readonly onError: (error: unknown) => void;
}

interface Item {
  readonly sender: MessageSender;
  readonly due: DueMessage;
  /** Aborted when the sender should drop the message. */
  readonly leave: AbortController;
  /** False while it is only waiting in the sender's queue. */
  hasBegun: boolean;
  /** True once its final dot may have been sent. */
  isMarked: boolean;
  result: DeliveryResult | null;
  readonly takenMs: number;
  seconds: number;
}

export interface EndedDelivery {
  readonly due: DueMessage;
  readonly result: DeliveryResult;
  readonly seconds: number;
}

const DRAIN_MS = 30_000;
const DRAIN_MARKED_MS = 10_000;
/** Marks within this time share a commit. */
const MARK_WAIT_MS = 2;
const AFTER_ERROR_SECONDS = 60;

export class InFlight {
  readonly #options: InFlightOptions;
  readonly #items = new Map<DueMessage, Item>();
  readonly #waiting: (() => void)[] = [];

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  take(sender: MessageSender, due: DueMessage): void {
    const item: Item = {
      sender,
      due,
      leave: new AbortController(),
      hasBegun: sender.asksFirst !== true,
      isMarked: false,
      result: null,
      takenMs: this.#options.clock.monotonic(),
      seconds: 0,
    };
    this.#items.set(due, item);
    void this.#deliver(item);
  }

  get size(): number {
    return this.#items.size;
  }

  isBusy(): boolean {
    return this.#all().some(isRunning);
  }

  busy(sender: MessageSender): number {
    return this.#all().filter((item) => item.sender === sender && isRunning(item)).length;
  }

  has({ token }: ErasedSurvey): boolean {
    return this.#all().some(({ due }) => due.channel !== "reply" && due.token === token);
  }

  unmarked(): readonly DueMessage[] {
    return this.#all().flatMap(({ due, isMarked }) => (isMarked ? [] : [due]));
  }

  ended(): readonly EndedDelivery[] {
    return this.#all().flatMap(({ due, result, seconds }) => (result === null ? [] : [{ due, result, seconds }]));
  }

  forget(recorded: readonly EndedDelivery[]): void {
    for (const { due } of recorded) this.#items.delete(due);
  }

  async nextEnd(): Promise<void> {
    if (this.isBusy()) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
  }

  /**
   * Waits for deliveries in progress. One that takes too long returns to the queue if unmarked; otherwise its outcome
   * is unknown.
   */
  async drain(record: () => Promise<void>): Promise<void> {
    this.#cutOff(({ hasBegun }) => !hasBegun);
    await this.#untilEnded(DRAIN_MS, record);
    this.#cutOff(({ isMarked }) => !isMarked);
    await this.#untilEnded(DRAIN_MARKED_MS, record);
    this.#cutOff(() => true);
    await record();
  }

  #all(): Item[] {
    return [...this.#items.values()];
  }

  async #deliver(item: Item): Promise<void> {
    try {
      this.#end(item, await item.sender.deliver(item.due, this.#progress(item)));
    } catch (error) {
      if (!(error instanceof ClaimLostError) && item.result === null) this.#options.onError(error);
      this.#end(item, lost(item, AFTER_ERROR_SECONDS));
    }
  }

  #progress(item: Item): DeliveryProgress {
    const { store, maxAgeSeconds } = this.#options;
    return {
      mayStillSend: async () => {
        const outcome = await store.read((tx) => mayStillSend(tx, item.due, { maxAgeSeconds }));
        if (outcome !== null) this.#end(item, outcome);
        item.hasBegun ||= item.result === null;
        return item.result === null;
      },
      transmitting: async (frozen) => {
        if (item.result !== null) throw new ClaimLostError("the message was taken back");
        item.isMarked = true;
        try {
          item.isMarked = await this.#mark(item.due, frozen);
        } catch (error) {
          item.isMarked = false;
          throw error;
        }
        if (!item.isMarked) throw new ClaimLostError("the claim was lost");
      },
      signal: item.leave.signal,
    };
  }

  /**
   * Records finished deliveries in the same commit as the mark, so that a crash never leaves more marks than
   * connections.
   */
  async #mark(due: DueMessage, frozen: FrozenMessage | undefined): Promise<boolean> {
    const { store, onUnknown } = this.#options;
    const own = due.project.id;
    const ended = groupByProject(this.ended(), (one) => one.due.project.id);
    const writes = [...new Set([own, ...ended.keys()])].map((project) =>
      store.write(
        async (tx) => {
          await finishAll(tx, ended.get(project) ?? [], onUnknown);
          return project === own ? markTransmitting(tx, due, frozen) : true;
        },
        { project, mayWaitMs: MARK_WAIT_MS },
      ),
    );
    return (await allOrFirstError(writes)).every(Boolean);
  }

  /** Ignores all but the first result, and results of messages that were withdrawn. */
  #end(item: Item, result: DeliveryResult): void {
    if (item.result !== null || !this.#items.has(item.due)) return;
    item.result = result;
    item.seconds = (this.#options.clock.monotonic() - item.takenMs) / 1000;
    for (const resolve of this.#waiting.splice(0)) resolve();
    this.#options.onEnd();
  }

  async #untilEnded(ms: number, record: () => Promise<void>): Promise<void> {
    const { clock } = this.#options;
    const endMs = clock.monotonic() + ms;
    await record();
    for (let isLate = false; this.isBusy() && !isLate; await record()) {
      const ended = this.nextEnd().then(() => false);
      isLate = await withTimeout(clock, endMs - clock.monotonic(), ended, true);
    }
  }

  #cutOff(which: (item: Item) => boolean): void {
    for (const item of this.#all().filter(isRunning).filter(which)) {
      this.#end(item, lost(item, 0));
      item.leave.abort();
    }
  }
}

function isRunning({ result }: Item): boolean {
  return result === null;
}

export async function finishAll(tx: Transaction, ended: readonly EndedDelivery[], onUnknown: OnUnknown): Promise<void> {
  for (const { due, result } of ended) await finishDelivery(tx, due, result, { onUnknown });
}

/** An unmarked message can't have been sent. */
function lost({ isMarked }: Item, delaySeconds: number): DeliveryOutcome {
  return isMarked ? { kind: "unknown" } : { kind: "released", delaySeconds };
}

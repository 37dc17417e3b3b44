/** The messages in hand: handed to a sender, and until their end is recorded. */
import type { Clock } from "../../runtime/clock.ts";
import { groupByProject, unlessFailed } from "../domain/by-project.ts";
import { finishDelivery, markTransmitting, mayStillSend, type OnUnknown } from "../domain/delivery/deliveries.ts";
import {
  ClaimLostError,
  type DeliveryOutcome,
  type DeliveryProgress,
  type DeliveryResult,
  type MessageSender,
} from "../domain/delivery/sender.ts";
import type { DueSurvey, ErasedSurvey, FrozenMessage, Store, Transaction } from "../domain/ports.ts";

export interface HandOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly maxAgeSeconds: number | null;
  readonly onUnknown: OnUnknown;
  /** Called with each delivery that has ended. */
  readonly onEnd: () => void;
  readonly onError: (error: unknown) => void;
}

interface Item {
  readonly sender: MessageSender;
  readonly due: DueSurvey;
  /** Ended when the sender need not go on. */
  readonly leave: AbortController;
  /** True once it is more than a place in the sender's queue. */
  hasBegun: boolean;
  /** Whether its final dot may follow, or has followed. */
  isMarked: boolean;
  result: DeliveryResult | null;
  readonly takenMs: number;
  /** From then until it had a result. */
  seconds: number;
}

export interface EndedDelivery {
  readonly due: DueSurvey;
  readonly result: DeliveryResult;
  readonly seconds: number;
}

export interface Hand {
  readonly take: (sender: MessageSender, due: DueSurvey) => void;
  readonly size: () => number;
  /** Whether a message has not ended yet. */
  readonly isBusy: () => boolean;
  /** How many messages this sender is busy with. */
  readonly busy: (sender: MessageSender) => number;
  readonly has: (survey: ErasedSurvey) => boolean;
  /** Those whose leases must be renewed. */
  readonly unmarked: () => readonly DueSurvey[];
  /** What has ended and is not recorded yet. */
  readonly ended: () => readonly EndedDelivery[];
  readonly forget: (recorded: readonly EndedDelivery[]) => void;
  /** Resolves when the next delivery has ended, and at once when all have. */
  readonly nextEnd: () => Promise<void>;
  /**
   * Puts back what has not begun, waits for the others, with `record` after each end, and ends what takes too long:
   * without a mark it is put back, with one it is unknown.
   */
  readonly drain: (record: () => Promise<void>) => Promise<void>;
}

/** How long transmissions may take to end when the service does, and how much longer those with a mark. */
const DRAIN_MS = 30_000;
const DRAIN_MARKED_MS = 10_000;
/** Marks of messages that are sent at the same time share a commit. */
const MARK_WAIT_MS = 2;
/** A sender that throws is not asked again at once. */
const AFTER_ERROR_SECONDS = 60;

export function createHand(options: HandOptions): Hand {
  const { store, clock, maxAgeSeconds, onUnknown, onError } = options;
  const items = new Map<DueSurvey, Item>();
  const waiting: (() => void)[] = [];
  const all = (): Item[] => [...items.values()];
  const end = (item: Item, result: DeliveryResult): void => {
    // What came first counts: a message that was put back or withdrawn is out of the sender's hands.
    if (item.result !== null || !items.has(item.due)) return;
    item.result = result;
    item.seconds = (clock.monotonic() - item.takenMs) / 1000;
    for (const tell of waiting.splice(0)) tell();
    options.onEnd();
  };
  const ended = (): EndedDelivery[] =>
    all().flatMap(({ due, result, seconds }) => (result === null ? [] : [{ due, result, seconds }]));
  /**
   * What has ended is recorded with the mark, so that a crash never finds more marks than there are connections. The
   * scheduler records it once more, which changes nothing.
   */
  const mark = async (due: DueSurvey, frozen: FrozenMessage | undefined): Promise<boolean> => {
    const { id } = due.project;
    const writes = groupByProject(ended(), (one) => one.due.project.id);
    const others = [...writes].filter(([project]) => project !== id);
    const recording = others.map(([project, some]) =>
      store.write((tx) => finishAll(tx, some, onUnknown), { project, mayWaitMs: MARK_WAIT_MS }),
    );
    const marking = store.write(
      async (tx) => {
        await finishAll(tx, writes.get(id) ?? [], onUnknown);
        return markTransmitting(tx, due, frozen);
      },
      { project: id, mayWaitMs: MARK_WAIT_MS },
    );
    await unlessFailed<unknown>([marking, ...recording]);
    return marking;
  };
  const follow = (item: Item): DeliveryProgress => ({
    mayStillSend: async () => {
      const outcome = await store.read((tx) => mayStillSend(tx, item.due, { maxAgeSeconds }));
      if (outcome !== null) end(item, outcome);
      item.hasBegun ||= item.result === null;
      return item.result === null;
    },
    transmitting: async (frozen) => {
      if (item.result !== null) throw new ClaimLostError("the message was taken back");
      item.isMarked = true;
      try {
        if (await mark(item.due, frozen)) return;
      } catch (error) {
        item.isMarked = false;
        throw error;
      }
      item.isMarked = false;
      throw new ClaimLostError("the claim was lost");
    },
    signal: item.leave.signal,
  });
  const deliver = async (item: Item): Promise<void> => {
    try {
      end(item, await item.sender.deliver(item.due, follow(item)));
    } catch (error) {
      if (!(error instanceof ClaimLostError) && item.result === null) onError(error);
      end(item, lost(item, AFTER_ERROR_SECONDS));
    }
  };
  const isRunning = ({ result }: Item): boolean => result === null;
  const nextEnd = async (): Promise<void> => {
    if (all().some(isRunning)) await new Promise<void>((resolve) => void waiting.push(resolve));
  };
  const untilEnded = async (ms: number, record: () => Promise<void>): Promise<void> => {
    const done = new AbortController();
    const timer = { isOver: false };
    const ring = (): void => void (timer.isOver = true);
    const over = clock.sleep(ms, done.signal).then(ring, ring);
    await record();
    while (all().some(isRunning) && !timer.isOver) {
      await Promise.race([nextEnd(), over]);
      await record();
    }
    done.abort();
  };
  const cutOff = (which: (item: Item) => boolean): void => {
    for (const item of all().filter(isRunning).filter(which)) {
      end(item, lost(item, 0));
      item.leave.abort();
    }
  };
  return {
    take: (sender, due) => {
      const takenMs = clock.monotonic();
      const item: Item = {
        sender,
        due,
        leave: new AbortController(),
        hasBegun: sender.asksFirst !== true,
        isMarked: false,
        result: null,
        takenMs,
        seconds: 0,
      };
      items.set(due, item);
      void deliver(item);
    },
    size: () => items.size,
    busy: (sender) => all().filter((item) => item.sender === sender && isRunning(item)).length,
    has: ({ project, requestId }) =>
      all().some(({ due }) => due.project.id === project.id && due.requestId === requestId),
    unmarked: () => all().flatMap(({ due, isMarked }) => (isMarked ? [] : [due])),
    ended,
    isBusy: () => all().some(isRunning),
    forget: (recorded) => {
      for (const { due } of recorded) items.delete(due);
    },
    nextEnd,
    drain: async (record) => {
      cutOff(({ hasBegun }) => !hasBegun);
      await untilEnded(DRAIN_MS, record);
      cutOff(({ isMarked }) => !isMarked);
      await untilEnded(DRAIN_MARKED_MS, record);
      cutOff(() => true);
      await record();
    },
  };
}

export async function finishAll(tx: Transaction, ended: readonly EndedDelivery[], onUnknown: OnUnknown): Promise<void> {
  for (const { due, result } of ended) await finishDelivery(tx, due, result, onUnknown);
}

/** Without a mark nothing can have gone. */
function lost({ isMarked }: Item, delaySeconds: number): DeliveryOutcome {
  return isMarked ? { kind: "unknown" } : { kind: "released", delaySeconds };
}

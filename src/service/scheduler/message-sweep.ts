/** Removes messages whose person is gone, or which were cancelled, from where senders keep them. */
import type { Clock } from "../../runtime/clock.ts";
import { groupByProject } from "../domain/by-project.ts";
import type { MessageSender } from "../domain/delivery/sender.ts";
import type { ErasedSurvey, Store } from "../domain/ports.ts";

export interface MessageSweepOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly senders: readonly MessageSender[];
  /** False where messages are kept and this process does not look. Absent: true. */
  readonly holdsMessages?: () => boolean;
}

const ERASE_BATCH = 500;
const SWEEP_MS = 30_000;
const SWEEP_PAUSE_MS = 50;

export class MessageSweep {
  readonly #options: MessageSweepOptions;
  readonly #isInFlight: (survey: ErasedSurvey) => boolean;

  constructor(options: MessageSweepOptions, isInFlight: (survey: ErasedSurvey) => boolean) {
    this.#options = options;
    this.#isInFlight = isInFlight;
  }

  /** The number of messages that were removed, and of those that are left since they are in flight. */
  async eraseSome(): Promise<{ readonly removed: number; readonly left: number }> {
    const { store, senders } = this.#options;
    if (!this.#holdsMessages()) return { removed: 0, left: 0 };
    const gone = await store.read((tx) => tx.queue.listErased(ERASE_BATCH));
    // A message in flight is written after it would be erased.
    const idle = gone.filter((survey) => !this.#isInFlight(survey));
    if (idle.length === 0) return { removed: 0, left: gone.length };
    let removed = 0;
    for (const sender of senders) removed += await sender.erase(idle);
    for (const [project, some] of groupByProject(idle, (survey) => survey.project.id))
      await store.write((tx) => tx.queue.forgetErased(some), { project });
    if (gone.length < ERASE_BATCH) return { removed, left: gone.length - idle.length };
    const more = await this.eraseSome();
    return { removed: removed + more.removed, left: more.left };
  }

  /** The number of messages that were removed, once none is left or time is over; null where this process does not look. */
  async run(): Promise<number | null> {
    const { clock } = this.#options;
    if (!this.#holdsMessages()) return null;
    const startedMs = clock.monotonic();
    for (let sum = 0; ;) {
      const { removed, left } = await this.eraseSome();
      sum += removed;
      if (left === 0 || clock.monotonic() - startedMs > SWEEP_MS) return sum;
      await clock.sleep(SWEEP_PAUSE_MS);
    }
  }

  #holdsMessages(): boolean {
    return this.#options.holdsMessages?.() !== false;
  }
}

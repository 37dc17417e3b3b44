import type { Clock } from "../../runtime/clock.ts";
import type { MessageFiles } from "../domain/delivery/sender.ts";
import type { ErasedSurvey, Store } from "../domain/ports.ts";

export interface MessageSweepOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly files?: MessageFiles;
  readonly knowsOutbox?: boolean;
}

export const ERASE_BATCH = 500;
const SWEEP_MS = 30_000;
const SWEEP_PAUSE_MS = 50;

export class MessageSweep {
  readonly #options: MessageSweepOptions;
  readonly #isInFlight: (survey: ErasedSurvey) => boolean;

  constructor(options: MessageSweepOptions, isInFlight: (survey: ErasedSurvey) => boolean) {
    this.#options = options;
    this.#isInFlight = isInFlight;
  }

  /** `left` counts surveys whose messages are in flight, or whose files only the server has. */
  async eraseSome(listed?: readonly ErasedSurvey[]): Promise<{ readonly removed: number; readonly left: number }> {
    const { store, files, knowsOutbox } = this.#options;
    const gone = listed ?? (await store.read((tx) => tx.queue.listErased(ERASE_BATCH)));
    // Skips messages in flight, because their files would be written after the erasure.
    const idle = gone.filter((survey) => !this.#isInFlight(survey));
    if (idle.length === 0) return { removed: 0, left: gone.length };
    const { removed, surveys } = (await files?.erase(idle)) ?? { removed: 0, surveys: idle };
    const done = knowsOutbox === false ? surveys : idle;
    // Needs no project lock: the project may be gone, and nothing else changes these rows.
    await store.write((tx) => tx.queue.forgetErased(done), { project: "none" });
    if (gone.length < ERASE_BATCH || done.length === 0) return { removed, left: gone.length - done.length };
    const more = await this.eraseSome();
    return { removed: removed + more.removed, left: more.left };
  }

  async run(): Promise<number | null> {
    const { clock, knowsOutbox } = this.#options;
    const startedMs = clock.monotonic();
    for (let sum = 0; ;) {
      const { removed, left } = await this.eraseSome();
      sum += removed;
      if (left === 0 || clock.monotonic() - startedMs > SWEEP_MS) return sum;
      if (knowsOutbox === false) return null;
      await clock.sleep(SWEEP_PAUSE_MS);
    }
  }
}

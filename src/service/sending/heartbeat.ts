import type { Clock } from "../../runtime/clock.ts";
import { type OnUnknown, releaseDeadClaims } from "../domain/delivery/deliveries.ts";
import { LIFE_SECONDS } from "../domain/delivery/living.ts";
import type { Store } from "../domain/ports.ts";

export interface HeartbeatOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly claimer: string;
  readonly onUnknown: OnUnknown;
}

const BEAT_MS = 10_000;

export class Heartbeat {
  readonly #options: HeartbeatOptions;
  #beatMs: number | null = null;
  #isFirst = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  async beat(): Promise<void> {
    if (this.#ageMs() < BEAT_MS) return;
    const { store, clock, claimer, onUnknown } = this.#options;
    const startedMs = clock.monotonic();
    const living = await store.write((tx) => tx.queue.beat(claimer, LIFE_SECONDS), { project: "none" });
    for (const project of await store.read((tx) => tx.queue.claimedProjects(living)))
      await store.write((tx) => releaseDeadClaims(tx, living, onUnknown, project), { project });
    this.#isFirst = living[0] === claimer;
    this.#beatMs = startedMs;
  }

  /** True if this process's name sorts first among the live ones; the leader does what only one process may do. */
  isLeader(): boolean {
    return this.#isFirst && this.#ageMs() < (LIFE_SECONDS * 1000) / 2;
  }

  async end(): Promise<void> {
    if (this.#beatMs === null) return;
    this.#beatMs = null;
    const { store, claimer } = this.#options;
    await store.write((tx) => tx.queue.leave(claimer), { project: "none" });
  }

  #ageMs(): number {
    return this.#beatMs === null ? Infinity : this.#options.clock.monotonic() - this.#beatMs;
  }
}

export function livingProcesses(store: Store): Promise<readonly string[]> {
  return store.read((tx) => tx.queue.living(LIFE_SECONDS));
}

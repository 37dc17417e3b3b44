/** Which processes deliver from one database: each says from time to time that it lives. */
import type { Clock } from "../../runtime/clock.ts";
import { type OnUnknown, releaseDeadClaims } from "../domain/delivery/deliveries.ts";
import { LIFE_SECONDS } from "../domain/delivery/living.ts";
import type { Store } from "../domain/ports.ts";

export interface Heartbeat {
  /** Before anything is claimed, and often. Cheap unless it is time. */
  readonly beat: () => Promise<void>;
  /** True for the process that does the work of one alone: of those that live, the first by name. */
  readonly isLeader: () => boolean;
  /** Lets the others take over at once. */
  readonly end: () => Promise<void>;
}

export interface HeartbeatOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly claimer: string;
  readonly onUnknown: OnUnknown;
}

const BEAT_MS = 10_000;

/** The names of those that deliver from a store. */
export function livingProcesses(store: Store): Promise<readonly string[]> {
  return store.read((tx) => tx.queue.living(LIFE_SECONDS));
}

/** Releases the claims of processes other than the living ones, one project after another. */
async function releaseDead(store: Store, living: readonly string[], onUnknown: OnUnknown): Promise<void> {
  for (const project of await store.read((tx) => tx.queue.claimedProjects(living)))
    await store.write((tx) => releaseDeadClaims(tx, living, onUnknown, project), { project });
}

/** Claims are those of processes that live, or free. */
export function createHeartbeat({ store, clock, claimer, onUnknown }: HeartbeatOptions): Heartbeat {
  const state = { beatMs: null as number | null, isFirst: false };
  const ageMs = (): number => (state.beatMs === null ? Infinity : clock.monotonic() - state.beatMs);
  return {
    beat: async () => {
      if (ageMs() < BEAT_MS) return;
      const startedMs = clock.monotonic();
      const living = await store.write((tx) => tx.queue.beat(claimer, LIFE_SECONDS), { project: "none" });
      await releaseDead(store, living, onUnknown);
      state.isFirst = living[0] === claimer;
      state.beatMs = startedMs;
    },
    isLeader: () => state.isFirst && ageMs() < (LIFE_SECONDS * 1000) / 2,
    end: async () => {
      if (state.beatMs === null) return;
      state.beatMs = null;
      await store.write((tx) => tx.queue.leave(claimer), { project: "none" });
    },
  };
}

/** Which processes send from a store: each records regularly that it is alive. */
import type { Clock } from "../../runtime/clock.ts";
import { type OnUnknown, releaseDeadClaims } from "../domain/delivery/deliveries.ts";
import { LIFE_SECONDS } from "../domain/delivery/living.ts";
import type { Store } from "../domain/ports.ts";

export interface Heartbeat {
  /** Called often, and before claims; cheap between beats. */
  readonly beat: () => Promise<void>;
  /** True for the first by name of the living processes, which does what only one may do. */
  readonly isLeader: () => boolean;
  /** Lets others take over right away. */
  readonly end: () => Promise<void>;
}

export interface HeartbeatOptions {
  readonly store: Store;
  readonly clock: Clock;
  readonly claimer: string;
  readonly onUnknown: OnUnknown;
}

const BEAT_MS = 10_000;

export function livingProcesses(store: Store): Promise<readonly string[]> {
  return store.read((tx) => tx.queue.living(LIFE_SECONDS));
}

async function releaseDead(store: Store, living: readonly string[], onUnknown: OnUnknown): Promise<void> {
  for (const project of await store.read((tx) => tx.queue.claimedProjects(living)))
    await store.write((tx) => releaseDeadClaims(tx, living, onUnknown, project), { project });
}

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

/**
 * In place of `service/sending/heartbeat.ts`: the simulated machine runs one process at a time, so every other claimer is
 * dead. To say every ten seconds of a month that it lives would take most of the time.
 */
import { releaseDeadClaims } from "../../../src/service/domain/delivery/deliveries.ts";
import type { Heartbeat, HeartbeatOptions } from "../../../src/service/sending/heartbeat.ts";

export async function livingProcesses(): Promise<readonly string[]> {
  return [];
}

export function createHeartbeat({ store, claimer, onUnknown }: HeartbeatOptions): Heartbeat {
  const state = { hasBegun: false };
  return {
    beat: async () => {
      if (state.hasBegun) return;
      for (const project of await store.read((tx) => tx.queue.claimedProjects([claimer])))
        await store.write((tx) => releaseDeadClaims(tx, [claimer], onUnknown, project), { project });
      state.hasBegun = true;
    },
    isLeader: () => true,
    end: async () => undefined,
  };
}

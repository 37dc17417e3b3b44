/**
 * Replaces `service/sending/heartbeat.ts`. Only one process runs at a time, so every other claimer is dead, and a
 * heartbeat every ten seconds of a month would dominate the run time.
 */
import { releaseDeadClaims } from "../../../src/service/domain/delivery/deliveries.ts";
import type { Heartbeat as Original, HeartbeatOptions } from "../../../src/service/sending/heartbeat.ts";

export async function livingProcesses(): Promise<readonly string[]> {
  return [];
}

export class Heartbeat implements Pick<Original, "beat" | "isLeader" | "end"> {
  readonly #options: HeartbeatOptions;
  #hasBegun = false;

  constructor(options: HeartbeatOptions) {
    this.#options = options;
  }

  async beat(): Promise<void> {
    if (this.#hasBegun) return;
    const { store, claimer, onUnknown } = this.#options;
    for (const project of await store.read((tx) => tx.queue.claimedProjects([claimer])))
      await store.write((tx) => releaseDeadClaims(tx, [claimer], onUnknown, project), { project });
    this.#hasBegun = true;
  }

  isLeader(): boolean {
    return true;
  }

  async end(): Promise<void> {}
}

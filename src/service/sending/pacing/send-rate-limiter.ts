/** When messages can be sent, at a rate shared by all processes. */
import type { Clock } from "../../../runtime/clock.ts";
import type { Store } from "../../domain/ports.ts";
import type { SendRate } from "../../delivery/carrier.ts";
import { FULL_BUCKET, reserve } from "./token-bucket.ts";

export interface SendRateLimiter {
  /** When the next message can be sent, Unix milliseconds, without reserving it. */
  readonly next: () => Promise<number>;
  readonly take: () => Promise<number>;
}

export interface SendRateLimiterOptions {
  readonly rate: SendRate;
  readonly clock: Clock;
  readonly store: Store;
  /** All processes with this name share the rate. */
  readonly name: string;
  readonly wanted: () => number;
}

const TAKEN_MAX = 10;

/**
 * Each process reserves send slots in batches of at most one second's worth (but at least one), so an idle process
 * delays the others by no more than that. Missed slots are not made up.
 */
export function createSendRateLimiter({ rate, clock, store, name, wanted }: SendRateLimiterOptions): SendRateLimiter {
  const perSecond = rate.count / rate.perSeconds;
  const most = Math.max(1, Math.min(Math.floor(perSecond), Math.max(TAKEN_MAX, Math.ceil(perSecond / TAKEN_MAX))));
  const state = { moments: [] as number[], taking: null as Promise<void> | null };
  const takeSome = async (): Promise<void> => {
    const count = Math.min(most, Math.max(1, wanted()));
    const waits = await store.write(
      async (tx) => {
        const level = (await tx.senders.bucket(name)) ?? FULL_BUCKET;
        const { bucket, departures } = reserve(rate, level, tx.nowMs, count);
        await tx.senders.setBucket(name, bucket);
        return departures.map((at) => at - tx.nowMs);
      },
      { project: "none" },
    );
    // The shared clock only determines how long to wait, measured by our own.
    const now = clock.now();
    state.moments.push(...waits.map((wait) => now + wait));
  };
  /** Retries `pick` until it finds a time, because another message may have taken it. */
  const find = async (pick: () => number | undefined): Promise<number> => {
    for (;;) {
      const passed = clock.now() - 1000 / perSecond;
      state.moments = state.moments.filter((at) => at >= passed);
      const found = pick();
      if (found !== undefined) return found;
      state.taking ??= takeSome().finally(() => {
        state.taking = null;
      });
      await state.taking;
    }
  };
  return {
    next: () => find(() => state.moments[0]),
    take: () => find(() => state.moments.shift()),
  };
}

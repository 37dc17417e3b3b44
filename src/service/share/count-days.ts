/** Caches counts per day of a live page; a day is counted again after one of its answers changed. */
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { Store } from "../domain/ports.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { keepDays } from "../domain/shares/shares.ts";

/**
 * Counts the missing days from a first one on (days since 1970; null for all). After an import of a million answers
 * this takes a second or two, without blocking other work.
 */
export type CountDays = (share: ShareRow, first: number | null) => Promise<void>;

/** One count per link at a time. */
export function createCountDays({ store, clock }: { readonly store: Store; readonly clock: Clock }): CountDays {
  const running = new Map<string, Promise<void>>();
  const count: CountDays = async (share, first) => {
    const last = utcDay(unixSeconds(clock)) - 1;
    await keepDays(store, share, { first, last });
  };
  return async (share, first) => {
    const key = `${share.project.id} ${share.id}`;
    const before = running.get(key) ?? Promise.resolve();
    const counting = before.catch(() => {}).then(() => count(share, first));
    running.set(key, counting);
    try {
      await counting;
    } finally {
      if (running.get(key) === counting) running.delete(key);
    }
  };
}

/** The days of a live page that are over: counted once, and again after one of their answers has changed. */
import { unixSeconds } from "../../runtime/clock.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { ShareRow } from "../domain/shares/share-rows.ts";
import { keepDays } from "../domain/shares/shares.ts";
import type { Base } from "../parts/base.ts";

/**
 * Counts the days from a first one on (days since 1970; null: all) that are not counted. After an import of a million
 * answers that takes a second or two; all other work goes on meanwhile.
 */
export type CountDays = (share: ShareRow, first: number | null) => Promise<void>;

/** Of one link one count runs at a time: those who look meanwhile wait for it and find little left. */
export function createCountDays({ store, clock }: Base): CountDays {
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

/** The times of a write, which are correct even after the clock was ahead and was set back. */
import { DAY_SECONDS } from "../../runtime/zone.ts";
import { InvalidError } from "./errors.ts";
import type { Transaction } from "./ports.ts";

export interface WriteTime {
  /** Unix milliseconds according to the clock, for waits, expiry and due times. */
  readonly nowMs: number;
  /** Unix seconds, for `updated_at`, chosen so that clients that poll for later changes don't miss any. */
  readonly updatedAt: number;
}

/** How far `updated_at` can be ahead of the clock. Clocks are usually corrected by less. */
export const LEAD_MAX_SECONDS = 300;

export function writeTime(nowMs: number, newest: number): WriteTime {
  const now = Math.floor(nowMs / 1000);
  return { nowMs, updatedAt: Math.max(now, Math.min(newest, now + LEAD_MAX_SECONDS)) };
}

/**
 * Returns how many seconds the newest write is ahead of the clock; 0 if that is within an ordinary clock correction.
 */
export async function readLead(tx: Transaction): Promise<number> {
  const lead = (await tx.clock.newestWriteAt()) - tx.now;
  return lead > LEAD_MAX_SECONDS ? lead : 0;
}

/** Corrects times that were stored while the clock was wrong, for example years ahead. */
export async function takeClockBack(tx: Transaction): Promise<void> {
  await tx.clock.takeBack();
  for (const kept of await tx.senders.list())
    if (kept.savedAt > tx.nowMs) await tx.senders.set({ ...kept, savedAt: tx.nowMs });
  await tx.senders.setState("senders resumed", tx.nowMs);
}

/** The first whole Unix second after which `seconds` have fully passed. */
export function dueAfter({ nowMs }: Pick<Transaction, "nowMs">, seconds: number): number {
  return Math.ceil(nowMs / 1000) + seconds;
}

/**
 * Rejects times more than a day ahead, because such a time would stay the newest until the clock catches up. Throws
 * InvalidError.
 */
export function checkRecordedTime(name: string, at: number | null, now: number): void {
  if (at !== null && at > now + DAY_SECONDS) throw new InvalidError({ [name]: ["must not be more than a day ahead"] });
}

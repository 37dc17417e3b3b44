/** The times of a write, when the clock was ahead earlier and has been set back. */
import type { Transaction } from "./ports.ts";

export interface WriteTime {
  /** Unix milliseconds by the clock: what waits, expires or is due counts from it. */
  readonly nowMs: number;
  /** Unix seconds: for `updated_at`, so that a client that asks for changes since its last row misses none. */
  readonly updatedAt: number;
}

/** `updated_at` is never ahead of the clock by more. A clock that is corrected goes back by less. */
export const LEAD_MAX_SECONDS = 300;

/** `newest` is the `updatedAt` of the newest write, Unix seconds. */
export function writeTime(nowMs: number, newest: number): WriteTime {
  const now = Math.floor(nowMs / 1000);
  return { nowMs, updatedAt: Math.max(now, Math.min(newest, now + LEAD_MAX_SECONDS)) };
}

/** Seconds by which the newest write is ahead of the clock; 0 unless that is more than a correction of the clock. */
export async function readLead(tx: Transaction): Promise<number> {
  const lead = (await tx.clock.newestWriteAt()) - tx.now;
  return lead > LEAD_MAX_SECONDS ? lead : 0;
}

/** Ends a lead, as after a write with a clock that was years ahead. */
export async function takeClockBack(tx: Transaction): Promise<void> {
  await tx.clock.takeBack();
  for (const kept of await tx.senders.list())
    if (kept.savedAt > tx.nowMs) await tx.senders.set({ ...kept, savedAt: tx.nowMs });
  await tx.senders.setSendersResumed(tx.nowMs);
}

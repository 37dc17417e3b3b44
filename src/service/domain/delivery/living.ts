import type { KeptSender, Transaction } from "../ports.ts";

/** A process that hasn't written for this long counts as dead, and its claims are released. */
export const LIFE_SECONDS = 30;
export const POLL_SECONDS = 2;

export async function livingSenders(tx: Transaction): Promise<readonly KeptSender[]> {
  const living = new Set(await tx.queue.living(LIFE_SECONDS));
  const kept = await tx.senders.list();
  return kept
    .filter(({ process }) => living.has(process))
    .toSorted((left, right) => `${left.name} ${left.process}`.localeCompare(`${right.name} ${right.process}`, "en"));
}

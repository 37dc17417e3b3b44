/** Which of the processes that share a store live, and what is known of them. */
import type { KeptSender, Transaction } from "../ports.ts";

/** A process that was not heard of for so long is dead, and its claims are free. */
export const LIFE_SECONDS = 30;
/** A process finds what others have changed after this long. */
export const POLL_SECONDS = 2;

/** The states of the senders of living processes. */
export async function livingSenders(tx: Transaction): Promise<readonly KeptSender[]> {
  const living = new Set(await tx.queue.living(LIFE_SECONDS));
  const kept = await tx.senders.list();
  return kept
    .filter(({ process }) => living.has(process))
    .toSorted((left, right) => `${left.name} ${left.process}`.localeCompare(`${right.name} ${right.process}`, "en"));
}

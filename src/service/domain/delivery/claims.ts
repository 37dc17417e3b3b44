import type { Claim, ClaimKey, DeliveryChange, DueMessage, Transaction } from "../ports.ts";

/** Claims due messages, earliest first, but pauses surveys whose Autopilot has been switched off. */
export async function claimSome(tx: Transaction, claim: Claim): Promise<readonly DueMessage[]> {
  const claimed: DueMessage[] = [];
  for (const found of await tx.queue.listDue(claim)) {
    if (found.isActive) claimed.push(await tx.queue.claim(found, claim));
    else await tx.queue.pause(found);
  }
  return claimed;
}

/** Returns false if the claim is no longer valid. A cancelled message stays cancelled unless it was sent or bounced. */
export async function settleClaim(tx: Transaction, claim: ClaimKey, change: DeliveryChange): Promise<boolean> {
  const found = await tx.queue.claimed(claim);
  if (found === null) return false;
  const isCancelled = found.state === "cancelled" && change.state !== "sent" && change.state !== "bounced";
  const kept = { ...change, state: "cancelled", dueAt: null, reason: found.reason ?? change.reason } as const;
  if (isCancelled) await tx.queue.eraseMessage(claim);
  await tx.queue.settle(claim, found, isCancelled ? kept : change);
  return true;
}

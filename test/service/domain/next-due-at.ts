import { CHANNELS } from "../../../src/contract/routes.ts";
import { findDue } from "../../../src/service/domain/delivery/deliveries.ts";
import type { OutgoingChannel, Transaction } from "../../../src/service/domain/ports.ts";

export async function nextDueAt(
  tx: Transaction,
  channels: readonly OutgoingChannel[] = CHANNELS,
): Promise<number | null> {
  return (await findDue(tx, channels)).dueAt;
}

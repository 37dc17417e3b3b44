/** Claims for all projects in one transaction. The scheduler uses one per project. */
import { claimDue as claimDueIn, findDue } from "../../../src/service/domain/delivery/deliveries.ts";
import { Turns } from "../../../src/service/domain/delivery/turns.ts";
import type { Claim, DueSurvey, Transaction } from "../../../src/service/domain/ports.ts";

export async function claimDue(
  tx: Transaction,
  claim: Omit<Claim, "project">,
  turns: Turns = new Turns(),
): Promise<readonly DueSurvey[]> {
  const { channel, limit } = claim;
  const claimed: DueSurvey[] = [];
  for (let before = -1; claimed.length > before && claimed.length < limit;) {
    before = claimed.length;
    const shares = turns.share(channel, (await findDue(tx, [channel])).due.get(channel) ?? [], limit - claimed.length);
    for (const share of shares)
      for (const due of (await claimDueIn(tx, { ...claim, ...share })).messages)
        if ("autopilot" in due) claimed.push(due);
  }
  return claimed;
}

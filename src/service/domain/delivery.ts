/** The scheduler's half of the rules: who is due, and what follows from how a delivery ended. */
import type { Claim, DueSurvey, Transaction } from "./ports.ts";
import { recordBounce } from "./events.ts";
import { newest } from "./person-identity.ts";
import { scheduleAutopilot } from "./surveys.ts";

export type DeliveryOutcome =
  | { readonly kind: "sent" }
  /** Refused for good. */
  | { readonly kind: "bounced" }
  /** Refused for now: due again after so many seconds. */
  | { readonly kind: "retry"; readonly delaySeconds: number };

/** Claims what is due; projects take turns. In a write; mail leaves after it is durable. */
export async function claimDue(tx: Transaction, claim: Claim): Promise<readonly DueSurvey[]> {
  return tx.requests.claimDue(claim);
}

/** When the scheduler must wake next; null when nothing waits. */
export async function nextDueAt(tx: Transaction): Promise<number | null> {
  return tx.requests.nextDueAt();
}

/** Makes what schedulers other than the living ones had claimed due again. Returns how many. */
export async function releaseDeadClaims(tx: Transaction, living: readonly string[] = []): Promise<number> {
  return tx.requests.releaseClaims(living);
}

/** Records how a claimed delivery ended; after a sent Autopilot survey the next one is scheduled `frequency` later. */
export async function finishDelivery(tx: Transaction, due: DueSurvey, outcome: DeliveryOutcome): Promise<void> {
  switch (outcome.kind) {
    case "sent":
      return finishSent(tx, due);
    case "bounced":
      if ((await tx.requests.markFailed(due)) && due.channel === "email")
        await recordBounce(tx, due.project, due.person.id);
      return;
    case "retry":
      await tx.requests.postpone(due, tx.now + outcome.delaySeconds);
  }
}

async function finishSent(tx: Transaction, due: DueSurvey): Promise<void> {
  const { project, channel } = due;
  if (!(await tx.requests.markSent(due))) return;
  const person = await tx.people.byId(project.id, due.person.id);
  if (person === null) return;
  await tx.people.update(project.id, person.id, { lastSentAt: newest(person.lastSentAt, tx.now) });
  if (!due.autopilot) return;
  const member = await tx.autopilot.member(project.id, channel, person.id);
  // Somebody who left and came back has another request waiting already.
  if (member === null || member.nextRequestId !== due.requestId) return;
  const { frequency } = await tx.autopilot.configuration(project.id, channel);
  await scheduleAutopilot(tx, project, person, {
    platform: channel,
    properties: member.properties,
    delaySeconds: frequency,
  });
}

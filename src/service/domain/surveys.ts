/** When a survey is scheduled, when it is due, and what follows from its delivery (sections 1 and 3). */
import { PLATFORMS, type Properties } from "../../contract/resources.ts";
import type { Channel } from "../../contract/routes.ts";
import type { Project } from "./inputs.ts";
import { newest } from "./person-identity.ts";
import type { Claim, DueSurvey, PersonRow, Transaction } from "./ports.ts";
import { canReceive, recordBounce } from "./suppressions.ts";

export interface SurveyWish {
  readonly channel: Channel;
  readonly delaySeconds: number;
  readonly properties: Properties;
}

/** Schedules a survey outside Autopilot; null when throttling, suppression or a missing address forbid it. */
export async function scheduleSurvey(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  wish: SurveyWish,
): Promise<number | null> {
  if (!(await canReceive(tx, project, person, wish.channel)) || (await isThrottled(tx, project, person))) return null;
  const scheduledAt = Math.min(tx.now + wish.delaySeconds, Number.MAX_SAFE_INTEGER);
  const { channel, properties } = wish;
  await tx.requests.insert(project.id, {
    personId: person.id,
    channel,
    autopilot: false,
    createdAt: tx.now,
    scheduledAt,
    paused: false,
    properties,
    token: tx.token(),
  });
  return scheduledAt;
}

/** Whether a survey was sent too recently, or one waits to be sent, which counts as recent. */
async function isThrottled(tx: Transaction, project: Project, person: PersonRow): Promise<boolean> {
  if (person.lastSentAt === null && person.nextSurveyAt === null) return false;
  const throttleSeconds = (await tx.projects.byId(project.id))?.throttleSeconds ?? null;
  if (throttleSeconds === null || throttleSeconds === 0) return false;
  return person.nextSurveyAt !== null || (person.lastSentAt !== null && tx.now - person.lastSentAt < throttleSeconds);
}

/** Drops what waits to be sent. The recurrence of Autopilot goes on, one interval from now. */
export async function cancelWaiting(tx: Transaction, project: Project, person: PersonRow): Promise<void> {
  const members = [];
  for (const platform of PLATFORMS) {
    const member = await tx.autopilot.member(project.id, platform, person.id);
    if (member !== null && member.nextRequestId !== null) members.push({ platform, properties: member.properties });
  }
  await tx.requests.cancel(project.id, person.id, { channel: null, autopilot: null });
  for (const member of members) {
    const { frequency } = await tx.autopilot.configuration(project.id, member.platform);
    await scheduleAutopilot(tx, project, person, { ...member, delaySeconds: frequency });
  }
}

export interface AutopilotWish {
  readonly platform: Channel;
  readonly properties: Properties;
  readonly delaySeconds: number;
}

/** Schedules a member's next Autopilot survey, or notes that there is none when the person cannot be reached. */
export async function scheduleAutopilot(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  wish: AutopilotWish,
): Promise<void> {
  const { platform, properties, delaySeconds } = wish;
  if (!(await canReceive(tx, project, person, platform))) {
    await tx.autopilot.setNextRequest(project.id, platform, person.id, null);
    return;
  }
  const { active } = await tx.autopilot.configuration(project.id, platform);
  const id = await tx.requests.insert(project.id, {
    personId: person.id,
    channel: platform,
    autopilot: true,
    createdAt: tx.now,
    scheduledAt: tx.now + delaySeconds,
    paused: !active,
    properties,
    token: tx.token(),
  });
  await tx.autopilot.setNextRequest(project.id, platform, person.id, id);
}

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
  // A person who left and came back has another request waiting already.
  if (member === null || member.nextRequestId !== due.requestId) return;
  const { frequency } = await tx.autopilot.configuration(project.id, channel);
  await scheduleAutopilot(tx, project, person, {
    platform: channel,
    properties: member.properties,
    delaySeconds: frequency,
  });
}

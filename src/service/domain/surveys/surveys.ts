/** When a survey is scheduled, and when it is due (sections 1 and 3). */
import { PLATFORMS, type Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";
import { newest } from "../people/person-identity.ts";
import type { PersonRow, Transaction } from "../ports.ts";
import { canReceive } from "../people/suppressions.ts";

export interface SurveyWish {
  /** The person is made by this very call. */
  readonly isNew: boolean;
  readonly channel: Channel;
  readonly delaySeconds: number;
  readonly properties: Properties;
}

/** When a survey outside Autopilot would be due; null when throttling, suppression or a missing address forbid it. */
export async function planSurvey(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  wish: SurveyWish,
): Promise<number | null> {
  if (!(await canReceive(tx, project, person, wish.channel)) || (await isThrottled(tx, project, person, wish)))
    return null;
  return Math.min(tx.now + wish.delaySeconds, Number.MAX_SAFE_INTEGER);
}

/** Schedules what was planned. */
export async function scheduleSurvey(
  tx: Transaction,
  project: Project,
  personId: number,
  { channel, properties, isNew }: SurveyWish,
  scheduledAt: number,
): Promise<void> {
  await tx.requests.insert(project.id, {
    personId,
    channel,
    autopilot: false,
    createdAt: tx.now,
    scheduledAt,
    isFirst: isNew,
    paused: false,
    properties,
    token: tx.token(),
    unsubscribeToken: tx.token(),
  });
}

/** True when a survey was sent, or may have been, too recently; one that waits to be sent counts as recent. */
async function isThrottled(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { isNew }: SurveyWish,
): Promise<boolean> {
  const { lastSentAt, nextSurveyAt } = person;
  const unknownAt = isNew ? null : await tx.deliveries.lastUnknownAt(project.id, person.id);
  const lastAt = newest(lastSentAt, unknownAt);
  if (lastAt === null && nextSurveyAt === null) return false;
  const throttleSeconds = (await tx.projects.byId(project.id))?.throttleSeconds ?? null;
  if (throttleSeconds === null || throttleSeconds === 0) return false;
  return nextSurveyAt !== null || (lastAt !== null && tx.now - lastAt < throttleSeconds);
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
    unsubscribeToken: tx.token(),
  });
  await tx.autopilot.setNextRequest(project.id, platform, person.id, id);
}

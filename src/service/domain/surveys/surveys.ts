/** When a survey is scheduled, and when it is due (sections 1 and 3). */
import { type Platform, PLATFORMS, type Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { Project } from "../inputs.ts";
import { newest } from "../people/person-identity.ts";
import type { AutopilotSettings, MembershipRow, PersonRow, Transaction } from "../ports.ts";
import { canReceive } from "../people/suppressions.ts";
import { readWallClock } from "../projects/settings.ts";
import { dueMoment, type Start } from "./due-moment.ts";

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
  const members: { platform: Platform; member: MembershipRow }[] = [];
  for (const platform of PLATFORMS) {
    const member = await tx.autopilot.member(project.id, platform, person.id);
    if (member !== null && member.nextRequestId !== null) members.push({ platform, member });
  }
  await tx.requests.cancel(project.id, person.id, { channel: null, autopilot: null });
  for (const one of members)
    await scheduleAutopilot(tx, project, person, { ...one, start: { kind: "after", at: tx.now } });
}

export interface AutopilotWish {
  readonly platform: Platform;
  readonly member: MembershipRow;
  readonly start: Start;
}

/**
 * Schedules a member's next Autopilot survey, and returns when it is due, Unix seconds; or notes that there is none when
 * the person cannot be reached, and returns null.
 */
export async function scheduleAutopilot(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { platform, member, start }: AutopilotWish,
): Promise<number | null> {
  if (!(await canReceive(tx, project, person, platform))) {
    await tx.autopilot.setNext(project.id, platform, person.id, { requestId: null, start });
    return null;
  }
  const { active, ...settings } = await tx.autopilot.settings(project.id, platform);
  const scheduledAt = await memberDueMoment(tx, project, settings, { ...member, start });
  const requestId = await tx.requests.insert(project.id, {
    personId: person.id,
    channel: platform,
    autopilot: true,
    createdAt: tx.now,
    scheduledAt,
    paused: !active,
    properties: member.properties,
    token: tx.token(),
    unsubscribeToken: tx.token(),
  });
  await tx.autopilot.setNext(project.id, platform, person.id, { requestId, start });
  return scheduledAt;
}

async function memberDueMoment(
  tx: Transaction,
  project: Project,
  { frequency, window }: Pick<AutopilotSettings, "frequency" | "window">,
  { start, number, notBefore }: Pick<MembershipRow, "start" | "number" | "notBefore">,
): Promise<number> {
  const wallClock = await readWallClock(tx, project);
  return dueMoment({ start, number, notBefore, frequency, window, wallClock, now: tx.now });
}

/** Keeps a person's next Autopilot surveys the throttle away from one that was sent outside Autopilot. */
export async function postponeAutopilot(
  tx: Transaction,
  project: Project,
  personId: number,
  sentAt: number,
): Promise<void> {
  const throttle = (await tx.projects.byId(project.id))?.throttleSeconds ?? 0;
  if (throttle === 0) return;
  for (const platform of PLATFORMS) {
    const member = await tx.autopilot.member(project.id, platform, personId);
    if (member === null) continue;
    const notBefore = Math.max(member.notBefore ?? 0, sentAt + throttle);
    const settings = await tx.autopilot.settings(project.id, platform);
    const dueAt = await memberDueMoment(tx, project, settings, { ...member, notBefore });
    await tx.autopilot.postpone(project.id, platform, member, { notBefore, dueAt });
  }
}

/** Whether a survey is scheduled, and when it is due (sections 1 and 3). */
import { readAutopilotSettings } from "./autopilot/autopilot-settings.ts";
import type { Properties } from "../../../contract/resources.ts";
import type { Channel } from "../../../contract/routes.ts";
import type { SurveyStatus } from "../../../contract/text/survey-status.ts";
import type { Project } from "../inputs.ts";
import { newest } from "../people/person-identity.ts";
import type { MembershipRow, PersonRow, Transaction } from "../ports.ts";
import { findSuppression } from "../people/suppressions.ts";
import { dueMoment, type Start } from "./due-moment.ts";

export interface SurveyRequest {
  readonly isNew: boolean;
  readonly channel: Channel;
  readonly delaySeconds: number;
  readonly properties: Properties;
}

/** Why a survey outside Autopilot can't be scheduled, or null. */
export async function refuseSurvey(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  request: Pick<SurveyRequest, "channel" | "isNew" | "delaySeconds">,
): Promise<SurveyStatus | null> {
  return (
    (await findSuppression(tx, project, person, request.channel)) ?? (await findThrottle(tx, project, person, request))
  );
}

export async function findPause(tx: Transaction, project: Project): Promise<SurveyStatus | null> {
  const since = await tx.senders.pausedSince(project.id);
  return since === null ? null : { status: "paused", since, until: null };
}

export function dueAfterDelay({ now }: Transaction, { delaySeconds }: SurveyRequest): number {
  return Math.min(now + delaySeconds, Number.MAX_SAFE_INTEGER);
}

export async function scheduleSurvey(
  tx: Transaction,
  project: Project,
  personId: number,
  { channel, properties, isNew }: SurveyRequest,
  scheduledAt: number,
): Promise<number> {
  return tx.requests.insert(project.id, {
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

/** Pending surveys count too, except Autopilot's if they are due at least one throttle after this survey. */
async function findThrottle(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { isNew, delaySeconds }: Pick<SurveyRequest, "isNew" | "delaySeconds">,
): Promise<SurveyStatus | null> {
  const { lastSentAt, nextSurveyAt } = person;
  const unknownAt = isNew ? null : await tx.deliveries.lastUnknownAt(project.id, person.id);
  const lastAt = newest(lastSentAt, unknownAt);
  if (lastAt === null && nextSurveyAt === null) return null;
  const throttleSeconds = (await tx.projects.byId(project.id))?.throttleSeconds ?? null;
  if (throttleSeconds === null || throttleSeconds === 0) return null;
  const isFar = nextSurveyAt !== null && nextSurveyAt >= tx.now + delaySeconds + throttleSeconds;
  const waitsAt = isFar ? await tx.requests.nextSingleAt(project.id, person.id) : nextSurveyAt;
  if (waitsAt !== null) return { status: "pending", since: null, until: waitsAt };
  const until = (lastAt ?? 0) + throttleSeconds;
  return tx.now < until ? { status: "throttled", since: lastAt, until } : null;
}

/** Returns false if no survey was pending. Autopilot continues after one interval. */
export async function cancelWaiting(tx: Transaction, project: Project, person: PersonRow): Promise<boolean> {
  const members = await tx.autopilot.memberships(project.id, person.id);
  const cancelled = await tx.requests.cancel(project.id, person.id, { channel: null, autopilot: null, isWrite: true });
  const start = { kind: "after", at: tx.now } as const;
  for (const member of members)
    if (member.nextRequestId !== null) await scheduleAutopilot(tx, project, person, { member, start });
  return cancelled > 0;
}

export interface MemberSurvey {
  readonly member: MembershipRow;
  readonly start: Start;
}

/** Returns the survey's Unix time; null if the person can't be reached. */
export async function scheduleAutopilot(
  tx: Transaction,
  project: Project,
  person: PersonRow,
  { member, start }: MemberSurvey,
): Promise<number | null> {
  const { platform } = member;
  const status = await findSuppression(tx, project, person, platform);
  if (status !== null) {
    await tx.unscheduled.add(project.id, { personId: person.id, channel: platform, status });
    await tx.autopilot.setNext(project.id, platform, person.id, { requestId: null, start });
    return null;
  }
  const { active, frequency, window } = await readAutopilotSettings(tx, project, platform);
  const scheduledAt = dueMoment({ ...member, start, frequency, window, now: tx.now });
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

/** Delays Autopilot surveys that are due less than one throttle after a survey outside Autopilot. */
export async function postponeAutopilot(
  tx: Transaction,
  project: Project,
  personId: number,
  sentAt: number,
): Promise<void> {
  const members = await tx.autopilot.memberships(project.id, personId);
  if (members.length === 0) return;
  const throttle = (await tx.projects.byId(project.id))?.throttleSeconds ?? 0;
  if (throttle === 0) return;
  for (const member of members) {
    const notBefore = Math.max(member.notBefore ?? 0, sentAt + throttle);
    const { frequency, window } = await readAutopilotSettings(tx, project, member.platform);
    const dueAt = dueMoment({ ...member, notBefore, frequency, window, now: tx.now });
    await tx.autopilot.postpone(project.id, member, { notBefore, dueAt });
  }
}

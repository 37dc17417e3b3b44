/** At most one reminder per survey, sent to people who haven't answered. */
import { type Channel, CHANNELS } from "../../../contract/routes.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { DueReminder, DueSurvey, ReminderQueue, Transaction } from "../ports.ts";
import { canReceive } from "../people/suppressions.ts";
import { nextOpening } from "./pacing.ts";

export const REMINDER_CHANNELS = ["any", "email", "sms"] as const;
export type ReminderChannel = (typeof REMINDER_CHANNELS)[number];

export interface ReminderSettings {
  readonly after: number | null;
  readonly channel: ReminderChannel;
}

const AFTER = "reminder_after";
const CHANNEL = "reminder_channel";
const SINCE = "reminder_since";
const AFTER_MIN = 3600;
const AFTER_MAX = 30 * 86_400;

export async function readReminder(tx: Transaction, project: Pick<Project, "id">): Promise<ReminderSettings> {
  return toReminder(await tx.projects.settings(project.id));
}

function toReminder(stored: ReadonlyMap<string, string>): ReminderSettings {
  const after = stored.get(AFTER);
  const channel = REMINDER_CHANNELS.find((one) => one === stored.get(CHANNEL)) ?? "any";
  return { after: after === undefined ? null : Number(after), channel };
}

/** Turning reminders on affects only surveys sent later; turning them off cancels pending ones. Throws InvalidError. */
export async function changeReminder(
  tx: Transaction,
  project: Pick<Project, "id">,
  change: { readonly after?: number | null | undefined; readonly channel?: ReminderChannel | undefined },
): Promise<ReminderSettings> {
  const { after, channel } = change;
  if (typeof after === "number" && !isReminderTime(after))
    throw new InvalidError({ after: ["must be from 1 hour to 30 days, such as 5d, or off"] });
  const isOff = (await readReminder(tx, project)).after === null;
  if (isOff && typeof after === "number") await tx.projects.setSetting(project.id, SINCE, String(tx.now));
  if (after !== undefined) await tx.projects.setSetting(project.id, AFTER, after === null ? null : String(after));
  if (channel !== undefined) await tx.projects.setSetting(project.id, CHANNEL, channel === "any" ? null : channel);
  return readReminder(tx, project);
}

export function isReminderTime(seconds: number): boolean {
  return Number.isInteger(seconds) && seconds >= AFTER_MIN && seconds <= AFTER_MAX;
}

export async function scheduleReminder(
  tx: Transaction,
  { project, channel, requestId }: Pick<DueSurvey, "project" | "channel" | "requestId">,
  sentAt: number,
): Promise<void> {
  const settings = await readReminder(tx, project);
  if (settings.after === null || !isFollowed(settings, channel)) return;
  const scheduledAt = await nextOpening(tx, project, channel, sentAt + settings.after);
  await tx.queue.addReminder(project.id, { surveyId: requestId, queue: QUEUES[channel], scheduledAt });
}

function isFollowed(settings: ReminderSettings, channel: Channel): boolean {
  return settings.after !== null && (settings.channel === "any" || settings.channel === channel);
}

export async function remindedQueues(tx: Transaction, project: Pick<Project, "id">): Promise<readonly ReminderQueue[]> {
  const settings = await readReminder(tx, project);
  return CHANNELS.filter((channel) => isFollowed(settings, channel)).map((channel) => QUEUES[channel]);
}

const QUEUES: Readonly<Record<Channel, ReminderQueue>> = { email: "reminder", sms: "sms-reminder" };

/** Why the settings forbid a reminder, now or when the survey was sent; null if they don't. */
async function describeOff(
  tx: Transaction,
  project: Project,
  channel: Channel,
  sentAt: number,
): Promise<string | null> {
  const stored = await tx.projects.settings(project.id);
  const settings = toReminder(stored);
  if (settings.after === null) return "reminders are off";
  if (!isFollowed(settings, channel)) return `reminders are off for ${channel}`;
  return sentAt < Number(stored.get(SINCE) ?? 0) ? "reminders were turned off" : null;
}

/** An unanswered link is valid for this long after its message was sent. */
export const LINK_SECONDS = 365 * 86_400;

/** Why the reminder must not be sent, or null. Read-only. */
export async function refuseReminder(tx: Transaction, due: DueReminder): Promise<string | null> {
  const { project, survey, person } = due;
  const now = await tx.people.byId(project.id, person.id);
  if (now === null || !(await canReceive(tx, project, now, survey.channel))) return "the person is no longer sent to";
  const sentAt = survey.sentAt ?? tx.now;
  const off = await describeOff(tx, project, survey.channel, sentAt);
  if (off !== null) return off;
  const visit = await tx.requests.byToken(due.token);
  // The response may have been deleted since.
  const hasAnswered = visit === null || visit.responseId !== null || visit.pageFacts.answeredBy !== null;
  const askedAt = Math.min(sentAt, survey.firstAttemptAt ?? sentAt);
  // Compares ids rather than times, because API responses can be backdated. The reminder's id was assigned when the
  // survey was sent.
  const hasCome = (): Promise<boolean> => tx.responses.haveCome(project.id, person.id, due.requestId, askedAt);
  if (hasAnswered || (now.lastRespondedAt ?? 0) >= askedAt || (await hasCome())) return "the person has answered";
  if (await tx.queue.hasNewerSurvey(project.id, survey.requestId)) return "a newer survey was sent";
  return tx.now - sentAt > LINK_SECONDS ? "the survey's link has expired" : null;
}

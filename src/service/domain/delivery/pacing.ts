/** The moments at which surveys may leave: Autopilot's windows, and a project's limit for a day. */
import { readAutopilotSettings } from "../surveys/autopilot/autopilot-settings.ts";
import type { Project } from "../inputs.ts";
import type { Claim, DueMessage, OutgoingChannel, Transaction } from "../ports.ts";
import { isLimited, WINDOW_REASON } from "./queue-rows.ts";
import { readSettings } from "../projects/settings.ts";
import { localDay } from "../sms/day.ts";
import { nextOpen } from "../surveys/open-time.ts";
import type { DeliveryOutcome } from "./sender.ts";

/** True for reminders, and for surveys of Autopilot. */
export function followsWindow(due: DueMessage): boolean {
  return "survey" in due || ("autopilot" in due && due.autopilot);
}

/** The first moment from `at` on in which the window for a channel is open, Unix seconds. */
export async function nextOpening(
  tx: Transaction,
  project: Pick<Project, "id">,
  channel: OutgoingChannel,
  at: number = tx.now,
): Promise<number> {
  const platform = channel === "sms" || channel === "sms-reminder" ? "sms" : "email";
  return nextOpen(at, (await readAutopilotSettings(tx, project, platform)).window);
}

/** The wait of a message for its window, which opens then; null while it may leave. */
export function waitForWindow({ now }: Transaction, opensAt: number): DeliveryOutcome | null {
  return opensAt > now ? { kind: "released", delaySeconds: opensAt - now, reason: WINDOW_REASON, isEarly: true } : null;
}

/** A project's day and its limit. */
export interface DayBudget {
  /** Surveys and reminders that may leave in one day; null for no limit. */
  readonly limit: number | null;
  /** Those that left, or may have, on the day of the project's zone. */
  readonly sent: number;
  /** Those that are on their way. */
  readonly leaving: number;
  /** When the next day begins, Unix seconds. */
  readonly nextDayAt: number;
}

export async function readBudget(tx: Transaction, project: Pick<Project, "id">): Promise<DayBudget> {
  const day = localDay(tx.now, (await readSettings(tx, project)).timeZone);
  const { dailyLimit: limit } = await tx.senders.limits(project.id);
  return { limit, ...(await tx.queue.countLeft(project.id, day)), nextDayAt: day.nextAt };
}

/**
 * The surveys and reminders of a channel that may still leave today, where `channels` share the day; null for no limit.
 * Where none may, the project waits for the next day.
 */
export async function roomToday(
  tx: Transaction,
  { project, channel }: Pick<Claim, "project" | "channel">,
  channels: readonly OutgoingChannel[],
  dailyLimit: number | null,
): Promise<number | null> {
  // Without a limit nothing is counted: a day may have many thousands.
  if (!isLimited(channel) || dailyLimit === null) return null;
  const { limit, sent, leaving, nextDayAt } = await readBudget(tx, { id: project });
  const room = Math.max(0, (limit ?? 0) - sent - leaving);
  // Those on their way may still fail, and leave room.
  if (room === 0) await tx.projects.setLimitedUntil(project, sent >= (limit ?? 0) ? nextDayAt : tx.now + 1);
  return room === 0 ? 0 : tx.queue.countInTurn({ project, channel, channels: channels.filter(isLimited), room });
}

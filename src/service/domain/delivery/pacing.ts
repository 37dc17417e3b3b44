import { readAutopilotSettings } from "../surveys/autopilot/autopilot-settings.ts";
import type { Project } from "../inputs.ts";
import type { Claim, DueMessage, OutgoingChannel, Transaction } from "../ports.ts";
import { isLimited, WINDOW_REASON } from "./queue-rows.ts";
import { readSettings } from "../projects/settings.ts";
import { localDay } from "../windows/day.ts";
import { nextOpen } from "../windows/open-time.ts";
import type { DeliveryOutcome } from "./sender.ts";

export function followsWindow(due: DueMessage): boolean {
  return "survey" in due || ("autopilot" in due && due.autopilot);
}

export async function nextOpening(
  tx: Transaction,
  project: Pick<Project, "id">,
  channel: OutgoingChannel,
  at: number = tx.now,
): Promise<number> {
  const platform = channel === "sms" || channel === "sms-reminder" ? "sms" : "email";
  return nextOpen(at, (await readAutopilotSettings(tx, project, platform)).window);
}

/** Null if the window is open. */
export function waitForWindow({ now }: Transaction, opensAt: number): DeliveryOutcome | null {
  return opensAt > now ? { kind: "released", delaySeconds: opensAt - now, reason: WINDOW_REASON, isEarly: true } : null;
}

export interface DayBudget {
  /** Surveys and reminders per day; null is unlimited. */
  readonly limit: number | null;
  /** Surveys and reminders that were (or may have been) sent on the project's current day. */
  readonly sent: number;
  readonly leaving: number;
  readonly nextDayAt: number;
}

export async function readBudget(tx: Transaction, project: Pick<Project, "id">): Promise<DayBudget> {
  const day = localDay(tx.now, (await readSettings(tx, project)).timeZone);
  const { dailyLimit: limit } = await tx.senders.limits(project.id);
  return { limit, ...(await tx.queue.countLeft(project.id, day)), nextDayAt: day.nextAt };
}

/**
 * How many due messages on `channel` fit into what is left of today's limit, which `channels` share; null means no
 * limit. Once the limit is used up, the project waits until the next day.
 */
export async function roomToday(
  tx: Transaction,
  { project, channel }: Pick<Claim, "project" | "channel">,
  channels: readonly OutgoingChannel[],
  dailyLimit: number | null,
): Promise<number | null> {
  // Counting a day with many thousands of surveys is only worthwhile if there is a limit.
  if (!isLimited(channel) || dailyLimit === null) return null;
  const { limit, sent, leaving, nextDayAt } = await readBudget(tx, { id: project });
  const room = Math.max(0, (limit ?? 0) - sent - leaving);
  // If only messages in flight use up the limit, some can still fail, so check again in a second.
  if (room === 0) await tx.projects.setLimitedUntil(project, sent >= (limit ?? 0) ? nextDayAt : tx.now + 1);
  return room === 0 ? 0 : tx.queue.countInTurn({ project, channel, channels: channels.filter(isLimited), room });
}

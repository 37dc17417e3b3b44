/** The moments at which surveys may leave: Autopilot's windows, and a project's limit for a day. */
import { readAutopilotSettings } from "../surveys/autopilot/autopilot-settings.ts";
import type { Project } from "../inputs.ts";
import type { Claim, DueReminder, DueSurvey, OutgoingChannel, Transaction } from "../ports.ts";
import { isLimited, WINDOW_REASON } from "./queue-rows.ts";
import { readSettings, readWallClock } from "../projects/settings.ts";
import { localDay } from "../sms/day.ts";
import { nextOpen } from "../surveys/open-time.ts";
import type { DeliveryOutcome } from "./sender.ts";

/** The wait of a message whose window is closed; null while it may leave. */
export async function waitForWindow(tx: Transaction, due: DueSurvey | DueReminder): Promise<DeliveryOutcome | null> {
  const { project } = due;
  if ("autopilot" in due && !due.autopilot) return null;
  const platform = "survey" in due ? due.survey.channel : due.channel;
  const { window } = await readAutopilotSettings(tx, project, platform);
  const at = nextOpen(tx.now, window, await readWallClock(tx, project));
  return at > tx.now ? { kind: "released", delaySeconds: at - tx.now, reason: WINDOW_REASON, isEarly: true } : null;
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
  const { timeZone, dailyLimit } = await readSettings(tx, project);
  const day = localDay(tx.now, timeZone);
  const limit = await limitOf(tx, dailyLimit);
  return { limit, ...(await tx.queue.countLeft(project.id, day)), nextDayAt: day.nextAt };
}

async function limitOf(tx: Transaction, own: string | null): Promise<number | null> {
  return own === null ? tx.queue.dailyLimit() : Number(own);
}

/**
 * The surveys and reminders of a channel that may still leave today, where `channels` share the day; null for no limit.
 * Where none may, the project waits for the next day.
 */
export async function roomToday(
  tx: Transaction,
  { project, channel }: Pick<Claim, "project" | "channel">,
  channels: readonly OutgoingChannel[],
): Promise<number | null> {
  if (!isLimited(channel)) return null;
  // Without a limit nothing is counted: a day may have many thousands.
  if ((await limitOf(tx, (await readSettings(tx, { id: project })).dailyLimit)) === null) return null;
  const { limit, sent, leaving, nextDayAt } = await readBudget(tx, { id: project });
  const room = Math.max(0, (limit ?? 0) - sent - leaving);
  // Those on their way may still fail, and leave room.
  if (room === 0) await tx.projects.setLimitedUntil(project, sent >= (limit ?? 0) ? nextDayAt : tx.now + 1);
  return room === 0 ? 0 : tx.queue.countInTurn({ project, channel, channels: channels.filter(isLimited), room });
}

/** Why a message leaves later than planned. */
import { readAutopilotSettings } from "../domain/surveys/autopilot/autopilot-settings.ts";
import { createWallClock, DAY_SECONDS } from "../../runtime/zone.ts";
import { readReminder } from "../domain/delivery/reminders.ts";
import type { AutopilotSettings, DueQuestion, Transaction } from "../domain/ports.ts";
import { plannedMoment } from "../domain/surveys/due-moment.ts";
import { nextOpen } from "../domain/surveys/open-time.ts";
import type { Held } from "./results.ts";

/** Call it before the message is settled, which schedules the member's next survey. */
export async function findWaits(tx: Transaction, due: DueQuestion, zone: string): Promise<Held[]> {
  const wallClock = createWallClock(zone);
  const dayOf = (at: number): number => Math.floor(wallClock(at) / DAY_SECONDS);
  const platform = "survey" in due ? due.survey.channel : due.channel;
  const { window, frequency } = await readAutopilotSettings(tx, due.project, platform);
  const plannedAt = await findPlanned(tx, due, { window, frequency });
  const isWindowed = "survey" in due || due.autopilot;
  const opensAt = isWindowed ? nextOpen(plannedAt, window) : plannedAt;
  return [
    ...(opensAt > plannedAt ? [{ at: plannedAt, why: "window" } as const] : []),
    ...(dayOf(opensAt) < dayOf(tx.now) ? [{ at: opensAt, why: "limit" } as const] : []),
  ];
}

/** The planned time, whatever the sending window. */
async function findPlanned(
  tx: Transaction,
  due: DueQuestion,
  pace: Pick<AutopilotSettings, "window" | "frequency">,
): Promise<number> {
  const { project, scheduledAt, person, requestId } = due;
  if ("survey" in due) {
    const { after } = await readReminder(tx, project);
    return Math.min(scheduledAt, (due.survey.sentAt ?? tx.now) + (after ?? 0));
  }
  const member = due.autopilot ? await tx.autopilot.member(project.id, due.channel, person.id) : null;
  if (member === null || member.nextRequestId !== requestId) return scheduledAt;
  return Math.min(scheduledAt, Math.max(plannedMoment({ ...member, ...pace }), member.notBefore ?? 0));
}

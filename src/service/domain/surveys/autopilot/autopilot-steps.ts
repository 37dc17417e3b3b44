import type { Platform } from "../../../../contract/resources.ts";
import { type LongChange, STEP } from "../../../sql/long-changes.ts";
import type { AutopilotSettings, PlannedSurvey, Transaction, WaitingSurvey } from "../../ports.ts";
import { dueMoment, type Start } from "../due-moment.ts";
import { readAutopilotSettings } from "./autopilot-settings.ts";

export async function rescheduleStep(tx: Transaction, change: LongChange): Promise<number | null> {
  const { project, doneTo } = change;
  const platform = change.target as Platform;
  const settings = await readAutopilotSettings(tx, { id: project }, platform);
  const surveys = await tx.autopilot.waiting(project, platform, doneTo, STEP);
  for (const survey of surveys) {
    const next = follow(survey, settings, tx.now);
    const isSame =
      next.state === survey.state && next.scheduledAt === survey.scheduledAt && next.dueAt === survey.dueAt;
    if (isSame) continue;
    const { id: requestId, personId } = survey;
    await tx.requests.reschedule(project, { requestId, personId }, next);
    if (next.scheduledAt !== survey.scheduledAt)
      await tx.autopilot.setNext(project, platform, personId, { requestId, start: next.start });
  }
  return surveys.length < STEP ? null : (surveys.at(-1)?.personId ?? null);
}

/**
 * A survey that was already claimed keeps its time. One that became due while Autopilot was paused is counted from now.
 */
function follow(survey: WaitingSurvey, { active, frequency, window }: AutopilotSettings, now: number): PlannedSurvey {
  const { number, notBefore, scheduledAt } = survey;
  const facts = { number, notBefore, frequency, window };
  const isUntouched = survey.claims === 0;
  const keptAt = isUntouched
    ? dueMoment({ ...facts, start: survey.start, now: Math.min(now, scheduledAt) })
    : scheduledAt;
  const isResumed = active && survey.state === "paused" && keptAt <= now;
  const start: Start = isResumed ? { kind: "resume", at: now } : survey.start;
  const at = isResumed ? dueMoment({ ...facts, start, now }) : keptAt;
  if (!active) return { state: "paused", start, scheduledAt: at, dueAt: null };
  const state = survey.attempts > 0 ? "retrying" : "scheduled";
  return { state, start, scheduledAt: at, dueAt: isResumed || isUntouched ? at : (survey.dueAt ?? at) };
}

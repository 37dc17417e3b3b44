/** When people who join Autopilot now will be surveyed for the first time. */
import type { AutopilotConfiguration, JoiningSurveys, Platform } from "../../../../contract/resources.ts";
import type { Project } from "../../inputs.ts";
import type { Transaction } from "../../ports.ts";
import { readWallClock } from "../../projects/settings.ts";
import { dueMoment, outermostMembers, type Start } from "../due-moment.ts";
import { WEEK_SECONDS } from "../open-time.ts";
import { formatDays } from "../windows.ts";

/**
 * The configuration (4.11) with the first surveys of so many people who join now. None of them counts as surveyed
 * before.
 */
export async function getAutopilotWithJoining(
  tx: Transaction,
  project: Project,
  platform: Platform,
  count: number,
): Promise<AutopilotConfiguration & { readonly joining: JoiningSurveys }> {
  const configuration = await tx.autopilot.configuration(project.id, platform);
  const { frequency, first, window } = await tx.autopilot.settings(project.id, platform);
  const outermost = outermostMembers((await tx.autopilot.joined(project.id, platform)) + 1, count);
  const start: Start = { kind: "join", at: tx.now, isSpread: first === "spread", askedAt: null };
  const facts = { start, notBefore: null, frequency, window, wallClock: await readWallClock(tx, project), now: tx.now };
  const days = first === "spread" ? Math.max(1, (frequency / WEEK_SECONDS) * window.days.size) : 1;
  const joining = {
    first_survey_at: dueMoment({ ...facts, number: outermost.first }),
    last_survey_at: dueMoment({ ...facts, number: outermost.last }),
    per_day: Math.round(count / days),
    days: formatDays(window.days),
  };
  return { ...configuration, joining };
}

/** Computes the surveys that Autopilot will add: each follows a pending one, once that has been sent. */
import { DAY_SECONDS, firstSecond, toCalendarDay } from "../../../../runtime/zone.ts";
import { nextTurn } from "../../../../runtime/clock.ts";
import { InvalidError } from "../../errors.ts";
import type { AutopilotSettings, DeliveryRow, DuePage, Store } from "../../ports.ts";
import { requireProject } from "../../projects/projects.ts";
import { readWallClock } from "../../projects/settings.ts";
import { WEEK_SECONDS } from "../../windows/open-time.ts";
import { dueMoment } from "../due-moment.ts";
import { readAutopilotSettings } from "./autopilot-settings.ts";

export interface ComingSurveys {
  /** The first second of a local day, or of the range. */
  readonly at: number;
  readonly count: number;
}

const STEP = 1000;
const SURVEYS_MAX = 2_000_000;
const WAITING = ["scheduled", "retrying"] as const;

/**
 * Assumes that surveys are sent on time and that settings and members don't change. Throws InvalidError above
 * `SURVEYS_MAX` surveys.
 */
export async function reckonComing(
  store: Store,
  name: string,
  { since, until }: { readonly since: number; readonly until: number },
): Promise<readonly ComingSurveys[]> {
  const { project, wallClock, now, settings } = await store.read(async (tx) => {
    const found = await requireProject(tx, name);
    const [email, sms] = [
      await readAutopilotSettings(tx, found, "email"),
      await readAutopilotSettings(tx, found, "sms"),
    ];
    return { project: found, wallClock: await readWallClock(tx, found), now: tx.now, settings: { email, sms } };
  });
  const days = new Map<number, number>();
  let reckoned = 0;
  const follow = async ({ channel, scheduledAt }: DeliveryRow): Promise<void> => {
    for (let at = nextAfter(Math.max(scheduledAt, now), settings[channel]); at <= until;) {
      const day = Math.floor(wallClock(at) / DAY_SECONDS);
      if (at >= since) days.set(day, (days.get(day) ?? 0) + 1);
      at = nextAfter(at, settings[channel]);
      reckoned += 1;
      if (reckoned > SURVEYS_MAX)
        throw new InvalidError({ until: ["is too far ahead: Autopilot would add more than 2,000,000 surveys"] });
      if (reckoned % STEP === 0) await nextTurn();
    }
  };
  // Autopilot counts only open time, so a survey can follow the previous one up to a week earlier than the frequency
  // says.
  const least = Math.min(...Object.values(settings).map(({ frequency }) => Math.max(0, frequency - WEEK_SECONDS)));
  for (const state of WAITING) {
    let after: DuePage["after"] = null;
    do {
      const page: DuePage = { since: null, until: until - least, order: "asc", after, limit: STEP };
      const rows = await store.read((tx) => tx.deliveries.listBySchedule(project.id, { state }, page));
      for (const row of rows) if (row.autopilot) await follow(row);
      const last = rows.length < STEP ? undefined : rows.at(-1);
      after = last === undefined ? null : { at: last.scheduledAt, id: last.requestId };
    } while (after !== null);
  }
  return [...days].map(([day, count]) => {
    const beginsAt = firstSecond(toCalendarDay(day * DAY_SECONDS), wallClock);
    return { at: Math.max(beginsAt, since), count };
  });
}

/** When the next survey is due if one is sent at `at`. */
function nextAfter(at: number, { frequency, window }: AutopilotSettings): number {
  return dueMoment({ start: { kind: "after", at }, number: 0, notBefore: null, frequency, window, now: at + 1 });
}

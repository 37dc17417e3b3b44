import { isDeepStrictEqual } from "node:util";
import { DURATION_MAX } from "../../../../contract/limits.ts";
import type { AutopilotConfiguration, JoiningSurveys, Platform } from "../../../../contract/resources.ts";
import { InvalidError } from "../../errors.ts";
import type { Project } from "../../inputs.ts";
import type { AutopilotSettings, Store, Transaction } from "../../ports.ts";
import { readSettings } from "../../projects/settings.ts";
import { dueMoment, firstAndLast, type Start } from "../due-moment.ts";
import { WEEK_SECONDS } from "../../windows/open-time.ts";
import type { QuietHours } from "../../windows/windows.ts";
import {
  DAYS_FORM,
  formatDays,
  formatHours,
  HOURS_FORM,
  isNeverOpen,
  parseDays,
  parseHours,
  type Window,
} from "../../windows/windows.ts";

/** Windows for text messages exclude the server's quiet hours. */
export async function readAutopilotSettings(
  tx: Transaction,
  project: Pick<Project, "id">,
  platform: Platform,
): Promise<AutopilotSettings> {
  const settings = await tx.autopilot.ownSettings(project.id, platform);
  const quiet = platform === "sms" ? await tx.senders.state("quiet hours") : null;
  return quiet === null ? settings : { ...settings, window: { ...settings.window, quiet } };
}

/** Inactive platforms keep their members. A new frequency or window reschedules surveys. Throws InvalidError. */
export async function configureAutopilot(
  tx: Transaction,
  project: Project,
  platform: Platform,
  change: Partial<ShownAutopilot>,
): Promise<AutopilotSettings> {
  const old = await readAutopilotSettings(tx, project, platform);
  const days = change.days === undefined ? old.window.days : parseDays(change.days);
  const hours = change.hours === undefined ? old.window : parseHours(change.hours);
  const { active = old.active, frequency = old.frequency, first = old.first } = change;
  const isFrequency = Number.isInteger(frequency) && frequency >= 1 && frequency <= DURATION_MAX;
  const errors = {
    ...(isFrequency ? {} : { frequency: ["must be from 1 second to 100 years"] }),
    ...(days === null ? { days: [DAYS_FORM] } : {}),
    ...(hours === null ? { hours: [HOURS_FORM] } : {}),
  };
  if (Object.keys(errors).length > 0 || days === null || hours === null) throw new InvalidError(errors);
  const settings = { active, frequency, first, window: { ...old.window, days, from: hours.from, to: hours.to } };
  if (change.hours !== undefined) checkEverOpen(settings.window);
  if (isDeepStrictEqual(old, settings)) return settings;
  await tx.autopilot.setSettings(project.id, platform, settings);
  await tx.changes.begin({ project: project.id, kind: "reschedule", target: platform });
  return settings;
}

function checkEverOpen(window: Window): void {
  const { quiet } = window;
  if (quiet === undefined || !isNeverOpen(window)) return;
  const hours = formatHours(quiet);
  throw new InvalidError({ hours: [`must have an hour outside the quiet hours of text messages, ${hours}`] });
}

export interface ShownAutopilot {
  readonly active: boolean;
  readonly frequency: number;
  readonly first: "spread" | "now";
  readonly days: string;
  readonly hours: string;
}

export function showAutopilot({ window, ...settings }: AutopilotSettings): ShownAutopilot {
  return { ...settings, days: formatDays(window.days), hours: formatHours(window) };
}

/** The configuration (4.11), with the times of the first surveys if `count` new people joined now. */
export async function getAutopilotWithJoining(
  tx: Transaction,
  project: Project,
  platform: Platform,
  count: number,
): Promise<AutopilotConfiguration & { readonly joining: JoiningSurveys }> {
  const configuration = await tx.autopilot.configuration(project.id, platform);
  const { frequency, first, window } = await readAutopilotSettings(tx, project, platform);
  const outermost = firstAndLast((await tx.autopilot.joined(project.id, platform)) + 1, count);
  const start: Start = { kind: "join", at: tx.now, isSpread: first === "spread", askedAt: null };
  const facts = { start, notBefore: null, frequency, window, now: tx.now };
  const days = first === "spread" ? Math.max(1, (frequency / WEEK_SECONDS) * window.days.size) : 1;
  const joining = {
    first_survey_at: dueMoment({ ...facts, number: outermost.first }),
    last_survey_at: dueMoment({ ...facts, number: outermost.last }),
    per_day: Math.round(count / days),
    days: formatDays(window.days),
  };
  return { ...configuration, joining };
}

/** Stores the server's quiet hours and reschedules text messages that wait for Autopilot's windows. */
export async function keepQuietHours(
  store: Store,
  quiet: QuietHours | null,
): Promise<{ readonly closed: readonly string[]; readonly zoneless: readonly string[] }> {
  const isNew = !isDeepStrictEqual(await store.read((tx) => tx.senders.state("quiet hours")), quiet);
  if (isNew) await store.write((tx) => tx.senders.setState("quiet hours", quiet), { project: "none" });
  const [closed, zoneless]: [string[], string[]] = [[], []];
  for (const { id, name } of await store.read((tx) => tx.projects.list())) {
    if (isNew)
      await store.write((tx) => tx.changes.begin({ project: id, kind: "reschedule", target: "sms" }), { project: id });
    await store.read(async (tx) => {
      if ((await readSettings(tx, { id })).timeZone === null) zoneless.push(name);
      if (isNeverOpen((await readAutopilotSettings(tx, { id }, "sms")).window)) closed.push(name);
    });
  }
  return { closed, zoneless };
}

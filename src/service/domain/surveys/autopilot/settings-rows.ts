/** The settings of Autopilot, a row for each platform of a project. */
import type { AutopilotConfiguration, Platform } from "../../../../contract/resources.ts";
import type { AutopilotSettings } from "./autopilot-settings.ts";
import { formatDays, formatHours, toWindow, type Window } from "../windows.ts";
import type { Database } from "../../../sql/database.ts";
import { readQuietHours } from "../../delivery/rows/delivery-state.ts";
import { isDeepStrictEqual } from "node:util";

const PLATFORM = "project_id = ? AND platform = ?";

export async function readAutopilotConfiguration(
  database: Database,
  project: number,
  platform: Platform,
): Promise<AutopilotConfiguration> {
  const row = await database.first(
    `SELECT active, frequency, created_at, updated_at FROM autopilot_configurations WHERE ${PLATFORM}`,
    [project, platform],
  );
  if (row === null) throw new Error(`project ${project} has no Autopilot configuration for ${platform}`);
  const { active, frequency, created_at, updated_at } = row;
  return {
    platform_id: platform,
    active: active === 1,
    frequency: Number(frequency),
    created_at: Number(created_at),
    updated_at: Number(updated_at),
  };
}

export async function readAutopilotSettings(
  database: Database,
  project: number,
  platform: string,
): Promise<AutopilotSettings> {
  const row = await database.first(
    `SELECT active, frequency, first, days, hours FROM autopilot_configurations WHERE ${PLATFORM}`,
    [project, platform],
  );
  if (row === null) throw new Error(`project ${project} has no Autopilot configuration for ${platform}`);
  const { active, frequency, first, days, hours } = row;
  return {
    active: active === 1,
    frequency: Number(frequency),
    first: first === "now" ? "now" : "spread",
    window: await withoutQuietHours(database, platform, toWindow(String(days), String(hours))),
  };
}

async function withoutQuietHours(database: Database, platform: string, window: Window): Promise<Window> {
  const quiet = platform === "sms" ? await readQuietHours(database) : null;
  return quiet === null ? window : { ...window, quiet };
}

export function insertAutopilotSettings(
  database: Database,
  now: number,
  project: number,
  platform: Platform,
  { active, frequency, first, window }: AutopilotSettings,
): void {
  database.send(
    `INSERT INTO autopilot_configurations (project_id, platform, active, frequency, first, days, hours, created_at, updated_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    [project, platform, Number(active), frequency, first, formatDays(window.days), formatHours(window), now, now],
  );
}

/** False where they are the same already. */
export async function changeAutopilotSettings(
  database: Database,
  now: number,
  project: number,
  platform: Platform,
  settings: AutopilotSettings,
): Promise<boolean> {
  if (isDeepStrictEqual(await readAutopilotSettings(database, project, platform), settings)) return false;
  const { active, frequency, first, window } = settings;
  database.send(
    `UPDATE autopilot_configurations SET active = ?, frequency = ?, first = ?, days = ?, hours = ?, updated_at = ?
     WHERE ${PLATFORM}`,
    [Number(active), frequency, first, formatDays(window.days), formatHours(window), now, project, platform],
  );
  return true;
}

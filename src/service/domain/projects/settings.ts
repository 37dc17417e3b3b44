/** The settings of a project: each is one row. */
import { FOOTER_MAX, SENDER_NAME_MAX } from "../../../contract/limits.ts";
import { PLATFORMS } from "../../../contract/resources.ts";
import { senderProblem } from "../../../contract/text/email.ts";
import { textFault } from "../../../contract/text/storable.ts";
import { createWallClock, DEFAULT_ZONE, type WallClock } from "../../../runtime/zone.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";

interface Setting {
  /** In commands, in files of settings and in the store. */
  readonly name: string;
  /** The kind of its value outside; the store keeps text. */
  readonly kind: "text" | "number";
  /** The problem of a text that is not empty; null for a valid one. */
  readonly check: (text: string) => string | null;
}

export const PROJECT_SETTINGS = {
  /** The sender that people see. */
  senderName: { name: "sender_name", kind: "text", check: (text) => textFault(text, { max: SENDER_NAME_MAX }) },
  /** The e-mail address that surveys come from. */
  from: { name: "from", kind: "text", check: senderProblem },
  replyTo: { name: "reply_to", kind: "text", check: senderProblem },
  /** Lines below each e-mail, a postal address for one. */
  footer: { name: "footer", kind: "text", check: (text) => textFault(text, { max: FOOTER_MAX, hasLines: true }) },
  /** IANA name of the zone whose nights are quiet. */
  timeZone: { name: "tz", kind: "text", check: (text) => (isZone(text) ? null : "is not a time zone") },
  /** So many soft bounces among a person's last five surveys are a bounce; null: they are listed alone. */
  softBounces: {
    name: "soft_bounces",
    kind: "number",
    check: (text) => (/^[1-5]$/.test(text) ? null : "must be a whole number from 1 to 5"),
  },
  /** Surveys and reminders that leave in one day; null: no limit. */
  dailyLimit: {
    name: "daily_limit",
    kind: "number",
    check: (text) => (/^[1-9]\d{0,8}$/.test(text) ? null : "must be a whole number from 1"),
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof PROJECT_SETTINGS;
type Key = keyof Settings;

/** As they are stored; null leaves it to the server. */
export type ProjectSettings = { readonly [Name in Key]: string | null };

/** As they are shown, by the names that users know. */
export type ConfiguredSettings = {
  readonly [Name in Key as Settings[Name]["name"]]: (Settings[Name]["kind"] extends "number" ? number : string) | null;
};

const ROWS = Object.entries(PROJECT_SETTINGS) as readonly (readonly [
  Key,
  Setting & { name: keyof ConfiguredSettings },
])[];

export async function readSettings(tx: Transaction, project: Pick<Project, "id">): Promise<ProjectSettings> {
  return toSettings(await tx.projects.settings(project.id));
}

/** `stored` are the settings of a project as the store keeps them. */
export function toSettings(stored: ReadonlyMap<string, string>): ProjectSettings {
  const values = ROWS.map(([key, { name }]) => [key, stored.get(name) ?? null]);
  return Object.fromEntries(values) as ProjectSettings;
}

/** The clock on the wall of the project's zone. */
export async function readWallClock(tx: Transaction, project: Pick<Project, "id">): Promise<WallClock> {
  return createWallClock((await readSettings(tx, project)).timeZone ?? DEFAULT_ZONE);
}

/** Changes the named settings alone; null or an empty text takes one back. Throws InvalidError. */
export async function changeSettings(
  tx: Transaction,
  project: Project,
  change: Partial<ProjectSettings>,
): Promise<ProjectSettings> {
  const given = ROWS.filter(([key]) => change[key] !== undefined).map(([key, setting]) => ({
    ...setting,
    text: change[key]?.trim() ?? "",
  }));
  const errors = given.flatMap(({ name, text, check }) => {
    const problem = text === "" ? null : check(text);
    return problem === null ? [] : [[name, [problem]] as const];
  });
  if (errors.length > 0) throw new InvalidError(Object.fromEntries(errors));
  for (const { name, text } of given) await tx.projects.setSetting(project.id, name, text || null);
  if (change.dailyLimit !== undefined || change.timeZone !== undefined) await tx.projects.endLimitNow(project.id);
  // The windows of Autopilot are hours of the zone.
  if (change.timeZone !== undefined)
    for (const platform of PLATFORMS)
      await tx.changes.begin({ project: project.id, kind: "reschedule", target: platform });
  return readSettings(tx, project);
}

export function toConfiguredSettings(settings: ProjectSettings): ConfiguredSettings {
  const values = ROWS.map(([key, { name, kind }]) => {
    const text = settings[key];
    return [name, text !== null && kind === "number" ? Number(text) : text];
  });
  return Object.fromEntries(values) as ConfiguredSettings;
}

/** The given settings alone; the others stay as they are. A number may come as text. */
export function toProjectSettings(given: {
  readonly [Name in keyof ConfiguredSettings]?: ConfiguredSettings[Name] | string;
}): Partial<ProjectSettings> {
  return Object.fromEntries(
    ROWS.filter(([, { name }]) => given[name] !== undefined).map(([key, { name }]) => {
      const value = given[name] ?? null;
      return [key, value === null ? null : String(value)];
    }),
  );
}

/** True for a time zone that this Node knows. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

import { FOOTER_MAX, SENDER_NAME_MAX } from "../../../contract/limits.ts";
import { PLATFORMS } from "../../../contract/resources.ts";
import { senderProblem } from "../../../contract/text/email.ts";
import { textFault } from "../../../contract/text/storable.ts";
import { createWallClock, DEFAULT_ZONE, type WallClock } from "../../../runtime/zone.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";

interface Setting {
  readonly name: string;
  /** The value's type in commands and files. The store always has a string. */
  readonly kind: "text" | "number";
  readonly check: (text: string) => string | null;
}

export const PROJECT_SETTINGS = {
  senderName: { name: "sender_name", kind: "text", check: (text) => textFault(text, { max: SENDER_NAME_MAX }) },
  from: { name: "from", kind: "text", check: senderProblem },
  replyTo: { name: "reply_to", kind: "text", check: senderProblem },
  /** Lines at the end of every e-mail, such as a postal address. */
  footer: { name: "footer", kind: "text", check: (text) => textFault(text, { max: FOOTER_MAX, hasLines: true }) },
  /** An IANA name. Quiet hours use this zone. */
  timeZone: { name: "tz", kind: "text", check: (text) => (isZone(text) ? null : "is not a time zone") },
  /** How many soft bounces among a person's last five surveys count as a bounce. If null, they never do. */
  softBounces: {
    name: "soft_bounces",
    kind: "number",
    check: (text) => (/^[1-5]$/.test(text) ? null : "must be a whole number from 1 to 5"),
  },
  dailyLimit: {
    name: "daily_limit",
    kind: "number",
    check: (text) => (/^[1-9]\d{0,8}$/.test(text) ? null : "must be a whole number from 1"),
  },
} as const satisfies Readonly<Record<string, Setting>>;

type Settings = typeof PROJECT_SETTINGS;
type Key = keyof Settings;

/** The settings as stored; null means the server's default. */
export type ProjectSettings = { readonly [Name in Key]: string | null };

/** The settings under the names that users see. */
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

export function toSettings(stored: ReadonlyMap<string, string>): ProjectSettings {
  const values = ROWS.map(([key, { name }]) => [key, stored.get(name) ?? null]);
  return Object.fromEntries(values) as ProjectSettings;
}

export async function readWallClock(tx: Transaction, project: Pick<Project, "id">): Promise<WallClock> {
  return createWallClock((await readSettings(tx, project)).timeZone ?? DEFAULT_ZONE);
}

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
  // Autopilot's windows use this time zone, so its surveys have to be rescheduled.
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

export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

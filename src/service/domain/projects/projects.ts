/** Projects, their keys and settings. */
import { createHash, timingSafeEqual } from "node:crypto";
import { senderProblem } from "../../../contract/text/email.ts";
import { characterCount, FOOTER_MAX, KEY_LENGTH_MIN, SENDER_NAME_MAX } from "../../../contract/limits.ts";
import { InvalidError, TakenError } from "../errors.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { KeyRow, ProjectRow, Transaction } from "../ports.ts";

const DAY_SECONDS = 86_400;
const DEFAULT_THROTTLE_SECONDS = 30 * DAY_SECONDS;
const DEFAULT_FREQUENCY_SECONDS = 90 * DAY_SECONDS;
/** Longer keys make a published client library break its header; `:` ends a user name of Basic credentials. */
const KEY = /^[!-9;-~]{1,44}$/;
/** Whether a key is so short that it could be guessed. */
export function isGuessable(key: string): boolean {
  return key.length < KEY_LENGTH_MIN;
}

/** Makes a project: throttled to 30 days, Autopilot active every 90 days on both platforms. */
export async function addProject(tx: Transaction, name: string): Promise<Project> {
  if (name.trim() === "") throw new InvalidError({ name: ["can't be blank"] });
  try {
    return await tx.projects.insert({
      name,
      throttleSeconds: DEFAULT_THROTTLE_SECONDS,
      frequencySeconds: DEFAULT_FREQUENCY_SECONDS,
    });
  } catch (error) {
    throw error instanceof TakenError ? new InvalidError({ name: ["has already been taken"] }) : error;
  }
}

export async function listProjects(tx: Transaction): Promise<readonly ProjectRow[]> {
  return tx.projects.list();
}

export async function findProject(tx: Transaction, name: string): Promise<ProjectRow | null> {
  return tx.projects.byName(name);
}

/** Lets this key in; what is stored is its hash. At most 44 ASCII characters without `:`. */
export async function addKey(tx: Transaction, project: Project, secretKey: string): Promise<KeyRow> {
  if (!KEY.test(secretKey))
    throw new InvalidError({ key: ["must be 1 to 44 visible ASCII characters without a colon"] });
  try {
    return await tx.projects.insertKey(project.id, { hash: hashKey(secretKey), lastFour: secretKey.slice(-4) });
  } catch (error) {
    throw error instanceof TakenError ? new InvalidError({ key: ["has already been taken"] }) : error;
  }
}

export async function listKeys(tx: Transaction, project: Project): Promise<readonly KeyRow[]> {
  return tx.projects.listKeys(project.id);
}

/** Whether there was such a key. */
export async function revokeKey(tx: Transaction, project: Project, id: string): Promise<boolean> {
  const key = parseId(id);
  return key !== null && tx.projects.deleteKey(project.id, key);
}

/** The project that a key opens; null for an unknown one. Only hashes are looked up and compared, in constant time. */
export async function authenticate(tx: Transaction, key: string): Promise<Project | null> {
  const hash = hashKey(key);
  const found = await tx.projects.byKeyHash(hash);
  if (found === null || !timingSafeEqual(Buffer.from(found.hash), Buffer.from(hash))) return null;
  return found.project;
}

function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

/** Shortest time between two surveys sent through the API, in seconds; null for no throttling. */
export async function setThrottle(tx: Transaction, project: Project, seconds: number | null): Promise<void> {
  if (seconds !== null && (!Number.isSafeInteger(seconds) || seconds < 0))
    throw new InvalidError({ throttle: ["is invalid"] });
  await tx.projects.setThrottle(project.id, seconds);
}

/** How a project's surveys present themselves; null leaves it to the server. */
export interface ProjectSettings {
  /** What people see as the sender. */
  readonly senderName: string | null;
  /** The e-mail address that surveys come from. */
  readonly from: string | null;
  readonly replyTo: string | null;
  /** Lines below each e-mail, a postal address for one; at most 500 characters. */
  readonly footer: string | null;
  /** IANA name of the zone whose nights are quiet. */
  readonly timeZone: string | null;
  /** So many soft bounces among a person's last five surveys are a bounce, 1 to 5; null: they are listed alone. */
  readonly softBounces: string | null;
}

/** The names under which they are stored. */
const SETTINGS: Readonly<Record<keyof ProjectSettings, string>> = {
  senderName: "sender_name",
  from: "from",
  replyTo: "reply_to",
  footer: "footer",
  timeZone: "tz",
  softBounces: "soft_bounces",
};

export async function readSettings(tx: Transaction, project: Project): Promise<ProjectSettings> {
  const stored = await tx.projects.settings(project.id);
  const { senderName, from, replyTo, footer, timeZone, softBounces } = SETTINGS;
  const read = (name: string): string | null => stored.get(name) ?? null;
  return {
    senderName: read(senderName),
    from: read(from),
    replyTo: read(replyTo),
    footer: read(footer),
    timeZone: read(timeZone),
    softBounces: read(softBounces),
  };
}

/** Changes the named settings alone; null or an empty text takes one back. Throws InvalidError. */
export async function changeSettings(
  tx: Transaction,
  project: Project,
  change: Partial<ProjectSettings>,
): Promise<ProjectSettings> {
  const names = Object.keys(change) as (keyof ProjectSettings)[];
  const errors = names.flatMap((name) => {
    const text = change[name]?.trim() ?? "";
    const problem = text === "" ? null : CHECKS[name](text);
    return problem === null ? [] : [[SETTINGS[name], [problem]] as const];
  });
  if (errors.length > 0) throw new InvalidError(Object.fromEntries(errors));
  for (const name of names) await tx.projects.setSetting(project.id, SETTINGS[name], change[name]?.trim() || null);
  return readSettings(tx, project);
}

type Check = (text: string) => string | null;

function notLongerThan(max: number): Check {
  return (text) => (characterCount(text) > max ? `is too long (maximum is ${max} characters)` : null);
}

const CHECKS: Readonly<Record<keyof ProjectSettings, Check>> = {
  senderName: notLongerThan(SENDER_NAME_MAX),
  from: senderProblem,
  replyTo: senderProblem,
  footer: notLongerThan(FOOTER_MAX),
  timeZone: (text) => (isZone(text) ? null : "is not a time zone"),
  softBounces: (text) => (/^[1-5]$/.test(text) ? null : "must be a whole number from 1 to 5"),
};

/** Whether this Node knows the zone. */
export function isZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat("en", { timeZone: name }).format(0) !== "";
  } catch {
    return false;
  }
}

import { PLATFORMS } from "../../../contract/resources.ts";
import { createHash } from "node:crypto";
import { isReadOnlyKey, type KeyAccess, READ_ONLY_PREFIX } from "../../../contract/key-access.ts";
import { KEY_LENGTH_MIN } from "../../../contract/limits.ts";
import { DAY_SECONDS, DEFAULT_ZONE } from "../../../runtime/zone.ts";
import { alreadyExists, checkText, InvalidError, NotFoundError } from "../errors.ts";
import { UniqueViolation } from "../../sql/database.ts";
import { parseId } from "../ids.ts";
import type { Project } from "../inputs.ts";
import type { AutopilotSettings, KeyRow, KnownKeyRow, ProjectRow, Transaction } from "../ports.ts";
import { isSameText } from "../secrets.ts";
import { toWindow } from "../windows/windows.ts";

const DEFAULT_THROTTLE_SECONDS = 30 * DAY_SECONDS;
/** E-mail is sent on weekday mornings, text messages during working hours. */
const DEFAULT_AUTOPILOT = { email: defaultAutopilot("5-10"), sms: defaultAutopilot("9-18") };

function defaultAutopilot(hours: string): AutopilotSettings {
  return {
    active: true,
    frequency: 90 * DAY_SECONDS,
    first: "spread",
    window: toWindow("mon-fri", hours, DEFAULT_ZONE),
  };
}

/** Longer keys break the header of a published client library; `:` ends the user name in Basic authentication. */
const KEY = /^[!-9;-~]{1,44}$/;
export function isGuessable(key: string): boolean {
  return key.length < KEY_LENGTH_MIN;
}

/** Creates a project with a throttle of 30 days, and with Autopilot active every 90 days on both platforms. */
export async function addProject(tx: Transaction, name: string): Promise<Project> {
  const project = await withName(name, (trimmed) =>
    tx.projects.insert({ name: trimmed, throttleSeconds: DEFAULT_THROTTLE_SECONDS }),
  );
  for (const platform of PLATFORMS) await tx.autopilot.setSettings(project.id, platform, DEFAULT_AUTOPILOT[platform]);
  return project;
}

/** Returns the new name, trimmed. Throws InvalidError. */
export async function renameProject(tx: Transaction, { id }: Pick<Project, "id">, name: string): Promise<string> {
  return withName(name, async (trimmed) => {
    await tx.projects.rename(id, trimmed);
    return trimmed;
  });
}

async function withName<Result>(given: string, store: (name: string) => Promise<Result>): Promise<Result> {
  checkText("name", given);
  const name = given.trim();
  try {
    return await store(name);
  } catch (error) {
    throw error instanceof UniqueViolation ? alreadyExists("a project named", "name", name) : error;
  }
}

export async function requireProject(tx: Transaction, name: string): Promise<ProjectRow> {
  const project = await tx.projects.byName(name);
  if (project === null) throw new NotFoundError(`there is no project ${JSON.stringify(name)}`);
  return project;
}

export interface KeyFacts {
  readonly name: string | null;
  readonly access: KeyAccess;
  readonly expiresAt: number | null;
}

const FULL_KEY: KeyFacts = { name: null, access: "full", expiresAt: null };

/** Only the key's hash is stored. Names are unique among valid keys, except after a rotation. Throws InvalidError. */
export async function addKey(
  tx: Transaction,
  project: Project,
  secretKey: string,
  facts: KeyFacts = FULL_KEY,
): Promise<KeyRow> {
  const { name } = facts;
  if (name !== null) {
    if (!/^(?!(?:key-)?\d+$)[\w.-]{1,64}$/.test(name))
      throw new InvalidError({
        name: ["must be 1 to 64 letters, digits, dots, dashes or underscores, and not a number or key- and a number"],
      });
    if ((await findKeys(tx, project, name)).length > 0) throw alreadyExists("a key named", "name", name);
  }
  return insertKey(tx, project, secretKey, facts);
}

async function insertKey(tx: Transaction, project: Project, secretKey: string, facts: KeyFacts): Promise<KeyRow> {
  if (!KEY.test(secretKey))
    throw new InvalidError({ key: ["must be 1 to 44 visible ASCII characters without a colon"] });
  if (isReadOnlyKey(secretKey) !== (facts.access === "read-only"))
    throw new InvalidError({ key: [`begins with ${READ_ONLY_PREFIX} if it only reads, and else must not`] });
  try {
    return await tx.projects.insertKey(project.id, {
      ...facts,
      hash: hashKey(secretKey),
      lastFour: secretKey.slice(-4),
    });
  } catch (error) {
    throw error instanceof UniqueViolation ? new InvalidError({ key: ["has already been taken"] }) : error;
  }
}

async function findKeys(tx: Transaction, project: Project, which: string): Promise<readonly KeyRow[]> {
  const id = parseId(which);
  const keys = await tx.projects.listKeys(project.id);
  return keys.filter((key) => (id === null ? key.name === which && !isOver(key.expiresAt, tx.now) : key.id === id));
}

/** `which` is an id, or the name of a single unrevoked key. Throws NotFoundError or InvalidError. */
async function requireKey(tx: Transaction, project: Project, which: string): Promise<KeyRow> {
  const [key, ...others] = await findKeys(tx, project, which);
  if (key === undefined) throw new NotFoundError(`project ${project.name} has no key ${which}`);
  if (others.length === 0) return key;
  const ids = [key, ...others].map(({ id }) => id).join(", ");
  throw new InvalidError({ key: [`${which} is the name of several: ${ids}; use a number`] });
}

/** `isLast` means that it is the only valid key. Throws like `requireKey`. */
export async function findKey(
  tx: Transaction,
  project: Project,
  which: string,
): Promise<{ readonly key: KeyRow; readonly isLast: boolean }> {
  const key = await requireKey(tx, project, which);
  const good = (await tx.projects.listKeys(project.id)).filter(({ expiresAt }) => !isOver(expiresAt, tx.now));
  return { key, isLast: good.length === 1 && good[0]?.id === key.id };
}

/** Keeps the key's hash, to tell a revoked key apart from an unknown one. Throws like `requireKey`. */
export async function revokeKey(tx: Transaction, project: Project, which: string): Promise<KeyRow> {
  const key = await requireKey(tx, project, which);
  await tx.projects.revokeKey(project.id, key.id);
  return key;
}

export interface Rotation {
  readonly makeKey: (access: KeyAccess) => string;
  readonly endsAt: number | null;
  readonly expiresAt: number | null;
}

export interface RotatedKey {
  readonly key: KeyRow;
  readonly secretKey: string;
  readonly previous: readonly KeyRow[];
}

/** The new key has the same name and access. Previous keys expire by `endsAt`, if given. Throws NotFoundError. */
export async function rotateKey(
  tx: Transaction,
  project: Project,
  which: string,
  { makeKey, endsAt, ...wanted }: Rotation,
): Promise<RotatedKey> {
  const previous = await findKeys(tx, project, which);
  const [first] = previous;
  if (first === undefined) throw new NotFoundError(`project ${project.name} has no key ${which}`);
  const { name, access } = first;
  const secretKey = makeKey(access);
  const key = await insertKey(tx, project, secretKey, { name, access, ...wanted });
  if (endsAt !== null)
    for (const { id, expiresAt } of previous)
      if (expiresAt === null || expiresAt > endsAt) await tx.projects.setKeyExpiry(project.id, id, endsAt);
  return { key, secretKey, previous };
}

function isOver(expiresAt: number | null, now: number): boolean {
  return expiresAt !== null && expiresAt <= now;
}

export interface KeyState {
  readonly kind: "good" | "expired" | "revoked" | "unknown";
  readonly at: number | null;
  readonly key: KnownKeyRow | null;
}

/** Compares hashes of keys, in constant time. */
export async function examineKey(tx: Transaction, key: string): Promise<KeyState> {
  const hash = hashKey(key);
  const found = await tx.projects.byKeyHash(hash);
  if (found === null || !isSameText(found.hash, hash)) return { kind: "unknown", at: null, key: null };
  const { expiresAt, revokedAt } = found;
  if (revokedAt !== null) return { kind: "revoked", at: revokedAt, key: found };
  return { kind: isOver(expiresAt, tx.now) ? "expired" : "good", at: expiresAt, key: found };
}

function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("hex");
}

export async function setThrottle(tx: Transaction, project: Project, seconds: number | null): Promise<void> {
  if (seconds !== null && (!Number.isSafeInteger(seconds) || seconds < 0))
    throw new InvalidError({ throttle: ["is invalid"] });
  await tx.projects.setThrottle(project.id, seconds);
}

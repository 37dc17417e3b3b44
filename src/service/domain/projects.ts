/** Projects, their keys and settings. */
import { createHash, timingSafeEqual } from "node:crypto";
import { KEY_LENGTH_MIN } from "../../contract/limits.ts";
import { InvalidError, TakenError } from "./errors.ts";
import { parseId } from "./ids.ts";
import type { Project } from "./inputs.ts";
import type { KeyRow, ProjectRow, Transaction } from "./ports.ts";

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

/** Basic credentials (section 5): the key is the user name; the colon may be missing, and the password is ignored. */
import { createHash } from "node:crypto";
import type { KeyAccess } from "../../contract/key-access.ts";
import { systemUser } from "../../runtime/files/processes.ts";
import { toIsoTime } from "../../contract/text/iso-time.ts";
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import { DAY_SECONDS, utcDay } from "../../runtime/zone.ts";
import type { Project } from "../domain/inputs.ts";
import type { Actor, Store } from "../domain/ports.ts";
import { examineKey, isGuessable } from "../domain/projects/projects.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { HttpError } from "./replies.ts";

export interface Caller {
  readonly project: Project;
  readonly access: KeyAccess;
  readonly actor: Actor;
  /** SHA-256, for rate limits. */
  readonly keyHash: string;
}

export interface KeyRing {
  /** `address` is the client's. Throws 401, or 429 after too many wrong keys from it. */
  readonly identify: (authorization: string | undefined, address: string) => Promise<Caller>;
  /** The project, or null. Throws 429 after too many wrong keys. */
  readonly open: (authorization: string, address: string) => Promise<Project | null>;
  /** The key's access, or null. Throws like `open`. */
  readonly requiredAccess: (authorization: string, address: string) => Promise<KeyAccess | null>;
  /** Accepts a key while this process lives, or until 10,000 others have been used after it. */
  readonly addSession: (key: string, project: Project) => void;
}

const REMEMBERED_MAX = 10_000;
/** Passwords are ignored and could be of any length. */
const REMEMBERED_LENGTH_MAX = 512;
/** How long a key that another process revoked keeps working. */
const REMEMBERED_MS = 1_500;

export interface KeyLimits {
  /** Per address. */
  readonly wrongKeys: RateLimiter;
  /** 401s per address. */
  readonly refusals: RateLimiter;
}

interface Remembered {
  readonly caller: Caller;
  readonly use: UsedKey;
  readonly isGuessable: boolean;
  /** Unix seconds; null for never. */
  readonly expiresAt: number | null;
}

/**
 * Caches credentials by their text, because hashing each key would be 4 % of a page. V8 seeds its string hashes per
 * process, so timing reveals nothing; unknown keys are compared in constant time.
 */
export function createKeyRing(store: Store, clock: Clock, limits: KeyLimits): KeyRing {
  const sessions = new Map<string, Caller>();
  const noteUse = createKeyUse(store, clock);
  const state = { remembered: new Map<string, Remembered>(), sinceMs: clock.monotonic() };
  const stillGood = (known: Remembered | undefined): Remembered | undefined =>
    known !== undefined && known.expiresAt !== null && known.expiresAt <= unixSeconds(clock) ? undefined : known;
  const identify: KeyRing["identify"] = async (authorization = "", address) => {
    if (clock.monotonic() - state.sinceMs > REMEMBERED_MS) {
      state.remembered = new Map();
      state.sinceMs = clock.monotonic();
    }
    const remembered = state.remembered;
    const known = stillGood(remembered.get(authorization));
    const key = known === undefined ? parseBasic(authorization) : null;
    // Only short keys can be guessed, so owners of long ones are never locked out.
    if (known?.isGuessable ?? (key !== null && isGuessable(key))) limits.wrongKeys.check(address);
    if (known !== undefined) {
      noteUse(known.use);
      return known.caller;
    }
    const keyHash = key === null ? "" : hashKey(key);
    const session = findSession(sessions, keyHash);
    if (session !== undefined) return session;
    const found = key === null ? null : await store.read((tx) => examineKey(tx, key));
    if (key === null || found?.kind !== "good" || found.key === null) {
      limits.refusals.count(address);
      if (key !== null) limits.wrongKeys.count(address);
      throw unauthorized();
    }
    const { project, id, name, access, lastUsedOn } = found.key;
    const caller = { project, access, actor: { key: id, name }, keyHash };
    const use = { project, id, lastUsedOn };
    noteUse(use);
    if (authorization.length > REMEMBERED_LENGTH_MAX) return caller;
    // Starts a new map, because a slow look-up may still write a revoked key to the old one.
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(authorization, { caller, use, isGuessable: isGuessable(key), expiresAt: found.at });
    return caller;
  };
  return {
    identify,
    open: async (...credentials) => (await orNobody(identify(...credentials)))?.project ?? null,
    requiredAccess: async (...credentials) => (await orNobody(identify(...credentials)))?.access ?? null,
    addSession: (key, project) => {
      const keyHash = hashKey(key);
      sessions.set(keyHash, { project, access: "full", actor: { key: null, name: systemUser() }, keyHash });
      const [oldest = ""] = sessions.keys();
      if (sessions.size > REMEMBERED_MAX) sessions.delete(oldest);
    },
  };
}

/** Null instead of 401. */
async function orNobody(identified: Promise<Caller>): Promise<Caller | null> {
  try {
    return await identified;
  } catch (error) {
    if (error instanceof HttpError && error.status === 401) return null;
    throw error;
  }
}

/** Moves the key to the end, so that one in use is not the oldest. */
function findSession(sessions: Map<string, Caller>, keyHash: string): Caller | undefined {
  const caller = sessions.get(keyHash);
  if (caller !== undefined && sessions.delete(keyHash)) sessions.set(keyHash, caller);
  return caller;
}

function parseBasic(authorization: string): string | null {
  const encoded = /^basic +([\w+/=-]+) *$/i.exec(authorization)?.[1];
  if (encoded === undefined) return null;
  const decoded = Buffer.from(encoded, "base64").toString("utf8");
  const colonAt = decoded.indexOf(":");
  const key = colonAt < 0 ? decoded : decoded.slice(0, colonAt);
  return key === "" ? null : key;
}

function hashKey(key: string): string {
  return createHash("sha256").update(key).digest("base64");
}

function unauthorized(): HttpError {
  return new HttpError(401, undefined, { "www-authenticate": 'Basic realm="surveyctl", charset="UTF-8"' });
}

interface UsedKey {
  readonly project: Project;
  readonly id: number;
  lastUsedOn: string | null;
}

/** Records when each key was last used, at most once a day, in the background; a failed write comes again tomorrow. */
function createKeyUse(store: Store, clock: Clock): (key: UsedKey) => void {
  const today = { number: -1, text: "" };
  return (key) => {
    const number = utcDay(unixSeconds(clock));
    if (number !== today.number) Object.assign(today, { number, text: toIsoTime(number * DAY_SECONDS).slice(0, 10) });
    const { text } = today;
    if (key.lastUsedOn === text) return;
    key.lastUsedOn = text;
    store
      .write((tx) => tx.projects.setKeyUsed(key.project.id, key.id, text), { project: "none" })
      .catch(() => undefined);
  };
}

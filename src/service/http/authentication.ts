/** Basic credentials (section 5): the key is the user name. The colon may be missing, and the password is ignored. */
import { createHash } from "node:crypto";
import type { KeyAccess } from "../../contract/key-access.ts";
import { systemUser } from "../../runtime/files/processes.ts";
import { type Clock, unixSeconds } from "../../runtime/clock.ts";
import type { Project } from "../domain/inputs.ts";
import type { Actor, Store } from "../domain/ports.ts";
import { examineKey, isGuessable } from "../domain/projects/projects.ts";
import { type RateLimit, RateLimiter } from "./rate-limit.ts";
import { HttpError } from "./replies.ts";

export interface Caller {
  readonly project: Project;
  readonly access: KeyAccess;
  readonly actor: Actor;
  readonly keyHash: string;
}

const REMEMBERED_MAX = 10_000;
/** Passwords are ignored and could be of any length. */
const REMEMBERED_LENGTH_MAX = 512;
/** How long a key keeps working after another process has revoked it. */
const REMEMBERED_MS = 1_500;
const WRONG_KEYS: RateLimit = { requests: 60, periodSeconds: 60 };

interface UsedKey {
  readonly project: Project;
  readonly id: number;
  lastUsedOn: string | null;
}

interface Remembered {
  readonly caller: Caller;
  readonly use: UsedKey;
  readonly isGuessable: boolean;
  /** Unix seconds; null means never. */
  readonly expiresAt: number | null;
}

/** Caches credentials by their text, because hashing each key would take 4% of the time of a page. */
export class KeyRing {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #wrongKeys: RateLimiter;
  /** Counts 401s per client address. */
  readonly #refusals: RateLimiter;
  readonly #sessions = new Map<string, Caller>();
  /** V8 seeds its string hashes per process, so the timing of a look-up reveals nothing. */
  #remembered = new Map<string, Remembered>();
  #rememberedSinceMs: number;

  constructor(store: Store, clock: Clock, rateLimit: RateLimit | null) {
    this.#store = store;
    this.#clock = clock;
    this.#wrongKeys = new RateLimiter(WRONG_KEYS, clock);
    this.#refusals = new RateLimiter(rateLimit, clock);
    this.#rememberedSinceMs = clock.monotonic();
  }

  /** `address` is the client's. Throws 401, or 429 after too many wrong keys from that address. */
  async identify(authorization = "", address: string): Promise<Caller> {
    if (this.#clock.monotonic() - this.#rememberedSinceMs > REMEMBERED_MS) {
      this.#remembered = new Map();
      this.#rememberedSinceMs = this.#clock.monotonic();
    }
    const remembered = this.#remembered;
    const known = this.#unlessExpired(remembered.get(authorization));
    const key = known === undefined ? parseBasic(authorization) : null;
    // Only short keys can be guessed, so owners of long ones are never locked out.
    if (known?.isGuessable ?? (key !== null && isGuessable(key))) this.#wrongKeys.check(address);
    if (known !== undefined) {
      this.#noteUse(known.use);
      return known.caller;
    }
    const keyHash = key === null ? "" : hashKey(key);
    const session = this.#sessions.get(keyHash);
    if (session !== undefined) return session;
    const found = key === null ? null : await this.#store.read((tx) => examineKey(tx, key));
    if (key === null || found?.kind !== "good" || found.key === null) {
      this.#refusals.admit(address);
      if (key !== null) this.#wrongKeys.admit(address);
      throw unauthorized();
    }
    const { project, id, name, access, lastUsedOn } = found.key;
    const caller = { project, access, actor: { key: id, name }, keyHash };
    const use = { project, id, lastUsedOn };
    this.#noteUse(use);
    if (authorization.length > REMEMBERED_LENGTH_MAX) return caller;
    // Uses the map from before the look-up: if a key was revoked during it, `#remembered` is already a new map.
    if (remembered.size >= REMEMBERED_MAX) remembered.clear();
    remembered.set(authorization, { caller, use, isGuessable: isGuessable(key), expiresAt: found.at });
    return caller;
  }

  /** Returns null for a missing or unknown key. Throws 429 after too many wrong keys. */
  async find(authorization: string, address: string): Promise<Caller | null> {
    try {
      return await this.identify(authorization, address);
    } catch (error) {
      if (error instanceof HttpError && error.status === 401) return null;
      throw error;
    }
  }

  addSession(key: string, project: Project): void {
    const keyHash = hashKey(key);
    this.#sessions.set(keyHash, { project, access: "full", actor: { key: null, name: systemUser() }, keyHash });
  }

  #unlessExpired(known: Remembered | undefined): Remembered | undefined {
    const expiresAt = known?.expiresAt ?? Infinity;
    return expiresAt <= unixSeconds(this.#clock) ? undefined : known;
  }

  /** Writes at most once per day and key, in the background. A failed write is retried the next day. */
  #noteUse(key: UsedKey): void {
    const today = new Date(this.#clock.now()).toISOString().slice(0, "2026-05-31".length);
    if (key.lastUsedOn === today) return;
    key.lastUsedOn = today;
    this.#store
      .write((tx) => tx.projects.setKeyUsed(key.project.id, key.id, today), { project: "none" })
      .catch(() => undefined);
  }
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

export function unauthorized(): HttpError {
  return new HttpError(401, undefined, { "www-authenticate": 'Basic realm="surveyctl", charset="UTF-8"' });
}

import type { KeptSender, SenderState } from "../rows.ts";
import { DAILY_LIMIT, readState, writeState } from "./delivery-state.ts";
import { type Database, numberOrNull, type SqlValue } from "../../../sql/database.ts";

/** Deliveries as operators see them, the log of attempts, and what is paused. */

/** What senders keep for their next start, and the pauses of all sending. */
export class SenderRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Since when nothing is sent at all; null while mail goes out. */
  async pausedAt(): Promise<number | null> {
    return (await readState(this.#database, PAUSE)) as number | null;
  }

  /** Since when nothing is sent at all, and how many surveys of a project may leave in a day; null for neither. */
  async limits(project: number): Promise<{ readonly pausedAt: number | null; readonly dailyLimit: number | null }> {
    const row = await this.#database.first(LIMITS, [PAUSE, project, DAILY_LIMIT]);
    return { pausedAt: toNumber(row?.pausedAt), dailyLimit: toNumber(row?.dailyLimit) };
  }

  /** Since when nothing is sent in a project, because it or everything is paused; null while mail goes out. */
  async pausedSince(project: number): Promise<number | null> {
    return numberOrNull((await this.#database.first(PAUSED_SINCE, [PAUSE, project]))?.at);
  }

  /**
   * The reason why all is paused, where the service itself has paused it; null where an operator has, or nothing is
   * paused.
   */
  async pauseReason(): Promise<string | null> {
    return (await readState(this.#database, PAUSE_REASON)) as string | null;
  }

  async setPaused(at: number | null, reason?: string): Promise<void> {
    this.#database.send("DELETE FROM delivery_state WHERE name IN (?, ?)", [PAUSE, PAUSE_REASON]);
    if (at !== null) writeState(this.#database, PAUSE, at);
    if (at !== null && reason !== undefined) writeState(this.#database, PAUSE_REASON, reason);
  }

  /** When an operator last let all be sent again; null for never. */
  async resumedAt(): Promise<number | null> {
    return (await readState(this.#database, RESUMED)) as number | null;
  }

  async setResumed(at: number): Promise<void> {
    return writeState(this.#database, RESUMED, at);
  }

  /** The states of senders, the newest first. */
  async list(): Promise<readonly KeptSender[]> {
    return readSenders(this.#database);
  }

  async set(kept: KeptSender): Promise<void> {
    return setSender(this.#database, kept);
  }

  /** When an operator last had all senders try again, Unix milliseconds; null for never. */
  async sendersResumedAt(): Promise<number | null> {
    return (await readState(this.#database, SENDERS_RESUMED)) as number | null;
  }

  async setSendersResumed(at: number): Promise<void> {
    return writeState(this.#database, SENDERS_RESUMED, at);
  }

  /** The messages that may leave at once by this name, and the time of that count, Unix milliseconds. */
  async bucket(name: string): Promise<{ readonly level: number; readonly at: number } | null> {
    return (await readState(this.#database, `bucket ${name}`)) as { level: number; at: number } | null;
  }

  async setBucket(name: string, bucket: { readonly level: number; readonly at: number }): Promise<void> {
    return writeState(this.#database, `bucket ${name}`, bucket);
  }
}

/** In one statement: each survey that is scheduled asks. */
const PAUSED_SINCE = `SELECT coalesce((SELECT value FROM delivery_state WHERE name = ?), CAST(p.paused_at AS TEXT)) AS at
  FROM projects p WHERE p.id = ?`;

/** A project's own limit goes before the server's. */
const LIMITS = `SELECT (SELECT value FROM delivery_state WHERE name = ?) AS "pausedAt",
  coalesce((SELECT value FROM project_settings WHERE project_id = ? AND name = 'daily_limit'),
    (SELECT value FROM delivery_state WHERE name = ?)) AS "dailyLimit"`;

/** As JSON, where no limit may be `null`. */
function toNumber(value: SqlValue = null): number | null {
  return JSON.parse(String(value)) as number | null;
}

const PAUSE = "pause";
const PAUSE_REASON = "pause reason";
const RESUMED = "resumed";
const SENDERS_RESUMED = "senders resumed";

/** The state of a sender is named `sender NAME PROCESS`. */
async function readSenders(database: Database): Promise<readonly KeptSender[]> {
  const rows = await database.all("SELECT name, value FROM delivery_state WHERE name LIKE 'sender %' ORDER BY name");
  return rows
    .map((row): KeptSender => {
      const [, name = "", process = ""] = String(row.name).split(" ");
      const { savedAt = 0, ...state } = JSON.parse(String(row.value)) as SenderState & { readonly savedAt?: number };
      return { name, process, savedAt, state };
    })
    .toSorted((left, right) => right.savedAt - left.savedAt);
}

const FORGOTTEN_MS = 3_600_000;

/** States of processes that ended long ago go. */
async function setSender(database: Database, { name, process, savedAt, state }: KeptSender): Promise<void> {
  writeState(database, senderKey({ name, process }), { ...state, savedAt });
  for (const one of await readSenders(database))
    if (one.name === name && one.savedAt < savedAt - FORGOTTEN_MS)
      database.send(
        "DELETE FROM delivery_state WHERE name = ? AND NOT EXISTS (SELECT 1 FROM processes WHERE name = ?)",
        [senderKey(one), one.process],
      );
}

function senderKey({ name, process }: Pick<KeptSender, "name" | "process">): string {
  return `sender ${name} ${process}`;
}

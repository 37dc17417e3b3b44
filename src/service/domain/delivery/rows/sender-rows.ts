import type { KeptSender, SenderState } from "../rows.ts";
import { DAILY_LIMIT, readState, writeState } from "./delivery-state.ts";
import { type Database, numberOrNull, type SqlValue } from "../../../sql/database.ts";

export class SenderRows {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  async pausedAt(): Promise<number | null> {
    return (await readState(this.#database, PAUSE)) as number | null;
  }

  /** When everything was paused, and how many surveys the project can send per day; null for neither. */
  async limits(project: number): Promise<{ readonly pausedAt: number | null; readonly dailyLimit: number | null }> {
    const row = await this.#database.first(LIMITS, [PAUSE, project, DAILY_LIMIT]);
    return { pausedAt: toNumber(row?.pausedAt), dailyLimit: toNumber(row?.dailyLimit) };
  }

  async pausedSince(project: number): Promise<number | null> {
    return numberOrNull((await this.#database.first(PAUSED_SINCE, [PAUSE, project]))?.at);
  }

  /** Why the service paused everything itself; null if an operator did, or nothing is paused. */
  async pauseReason(): Promise<string | null> {
    return (await readState(this.#database, PAUSE_REASON)) as string | null;
  }

  async setPaused(at: number | null, reason?: string): Promise<void> {
    this.#database.send("DELETE FROM delivery_state WHERE name IN (?, ?)", [PAUSE, PAUSE_REASON]);
    if (at !== null) writeState(this.#database, PAUSE, at);
    if (at !== null && reason !== undefined) writeState(this.#database, PAUSE_REASON, reason);
  }

  async resumedAt(): Promise<number | null> {
    return (await readState(this.#database, RESUMED)) as number | null;
  }

  async setResumed(at: number): Promise<void> {
    return writeState(this.#database, RESUMED, at);
  }

  async list(): Promise<readonly KeptSender[]> {
    return readSenders(this.#database);
  }

  async set(kept: KeptSender): Promise<void> {
    return setSender(this.#database, kept);
  }

  async sendersResumedAt(): Promise<number | null> {
    return (await readState(this.#database, SENDERS_RESUMED)) as number | null;
  }

  async setSendersResumed(at: number): Promise<void> {
    return writeState(this.#database, SENDERS_RESUMED, at);
  }

  /** How many messages can be sent immediately under this name, and when that was computed, Unix milliseconds. */
  async bucket(name: string): Promise<{ readonly level: number; readonly at: number } | null> {
    return (await readState(this.#database, `bucket ${name}`)) as { level: number; at: number } | null;
  }

  async setBucket(name: string, bucket: { readonly level: number; readonly at: number }): Promise<void> {
    return writeState(this.#database, `bucket ${name}`, bucket);
  }
}

/** In one statement, because each scheduled survey needs it. */
const PAUSED_SINCE = `SELECT coalesce((SELECT value FROM delivery_state WHERE name = ?), CAST(p.paused_at AS TEXT)) AS at
  FROM projects p WHERE p.id = ?`;

/** A project's limit takes precedence over the server's. */
const LIMITS = `SELECT (SELECT value FROM delivery_state WHERE name = ?) AS "pausedAt",
  coalesce((SELECT value FROM project_settings WHERE project_id = ? AND name = 'daily_limit'),
    (SELECT value FROM delivery_state WHERE name = ?)) AS "dailyLimit"`;

/** From JSON, in which no limit can be `null`. */
function toNumber(value: SqlValue = null): number | null {
  return JSON.parse(String(value)) as number | null;
}

const PAUSE = "pause";
const PAUSE_REASON = "pause reason";
const RESUMED = "resumed";
const SENDERS_RESUMED = "senders resumed";

/** Rows are named `sender NAME PROCESS`. */
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

/** Also deletes states of processes that ended long ago. */
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

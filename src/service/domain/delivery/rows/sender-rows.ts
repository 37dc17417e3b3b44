import { Rows } from "../../../sql/rows.ts";
import { numberOrNull, type SqlValue } from "../../../sql/database.ts";
import type { QuietHours } from "../../windows/windows.ts";
import type { KeptSender, SenderState } from "../rows.ts";

interface SharedState {
  /** When everything was paused. */
  readonly pause: number;
  /** Why the service paused everything itself; null if an operator did. */
  readonly "pause reason": string;
  /** When an operator last resumed all sending. */
  readonly resumed: number;
  /** When an operator last resumed the senders, Unix milliseconds. */
  readonly "senders resumed": number;
  readonly "daily limit": number;
  /**
   * Hours without text messages, as configured on the server that started last. Autopilot's windows for SMS exclude
   * them.
   */
  readonly "quiet hours": QuietHours;
  /** How many messages a rate limit allows right now, and when that was computed, in Unix milliseconds. */
  readonly [bucket: `bucket ${string}`]: { readonly level: number; readonly at: number };
}

export class SenderRows extends Rows {
  async state<Name extends keyof SharedState>(name: Name): Promise<SharedState[Name] | null> {
    const row = await this.database.first("SELECT value FROM delivery_state WHERE name = ?", [name]);
    return row === null ? null : (JSON.parse(String(row.value)) as SharedState[Name] | null);
  }

  async setState<Name extends keyof SharedState>(name: Name, value: SharedState[Name] | null): Promise<void> {
    this.#store(name, value);
  }

  async pausedAt(): Promise<number | null> {
    return this.state("pause");
  }

  /** `pausedAt` is when everything was paused. Null means not set. */
  async limits(project: number): Promise<{ readonly pausedAt: number | null; readonly dailyLimit: number | null }> {
    const row = await this.database.first(LIMITS, [project]);
    return { pausedAt: toNumber(row?.pausedAt), dailyLimit: toNumber(row?.dailyLimit) };
  }

  async pausedSince(project: number): Promise<number | null> {
    return numberOrNull((await this.database.first(PAUSED_SINCE, [project]))?.at);
  }

  async setPaused(at: number | null, reason?: string): Promise<void> {
    this.database.send("DELETE FROM delivery_state WHERE name IN ('pause', 'pause reason')");
    if (at !== null) this.#store("pause", at);
    if (at !== null && reason !== undefined) this.#store("pause reason", reason);
  }

  /** Also releases surveys that wait because of the old limit. */
  async setDailyLimit(limit: number | null): Promise<void> {
    const { now } = this.session;
    this.#store("daily limit", limit);
    this.database.send("UPDATE projects SET limited_until = ? WHERE limited_until > ?", [now, now]);
  }

  async list(): Promise<readonly KeptSender[]> {
    const sql = "SELECT name, value FROM delivery_state WHERE name LIKE 'sender %' ORDER BY name";
    const senders = (await this.database.all(sql)).map((row): KeptSender => {
      const [, name = "", process = ""] = String(row.name).split(" ");
      const { savedAt = 0, ...state } = JSON.parse(String(row.value)) as SenderState & { readonly savedAt?: number };
      return { name, process, savedAt, state };
    });
    return senders.toSorted((left, right) => right.savedAt - left.savedAt);
  }

  /** Also deletes the states of processes that ended long ago. */
  async set({ name, process, savedAt, state }: KeptSender): Promise<void> {
    this.#store(`sender ${name} ${process}`, { ...state, savedAt });
    for (const one of await this.list())
      if (one.name === name && one.savedAt < savedAt - FORGOTTEN_MS)
        this.database.send(
          "DELETE FROM delivery_state WHERE name = ? AND NOT EXISTS (SELECT 1 FROM processes WHERE name = ?)",
          [`sender ${one.name} ${one.process}`, one.process],
        );
  }

  #store(name: string, value: unknown): void {
    this.database.send(
      "INSERT INTO delivery_state (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
      [name, JSON.stringify(value)],
    );
  }
}

/** Runs for every scheduled survey, so it is one statement. */
const PAUSED_SINCE = `SELECT coalesce((SELECT value FROM delivery_state WHERE name = 'pause'), CAST(p.paused_at AS TEXT)) AS at
  FROM projects p WHERE p.id = ?`;

/** A project's limit takes precedence over the server's. */
const LIMITS = `SELECT (SELECT value FROM delivery_state WHERE name = 'pause') AS "pausedAt",
  coalesce((SELECT value FROM project_settings WHERE project_id = ? AND name = 'daily_limit'),
    (SELECT value FROM delivery_state WHERE name = 'daily limit')) AS "dailyLimit"`;

/** Reads a number from JSON, where `null` can mean no limit. */
function toNumber(value: SqlValue = null): number | null {
  return JSON.parse(String(value)) as number | null;
}

const FORGOTTEN_MS = 3_600_000;

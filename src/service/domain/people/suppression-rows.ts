import { createHmac } from "node:crypto";
import { emailKey } from "../../../contract/text/email.ts";
import type { Channel } from "../../../contract/routes.ts";
import { allIn, type Database, type SqlValue } from "../../sql/database.ts";
import { type SecretRows, SUPPRESSION_KEY } from "../secret-rows.ts";

/**
 * The reason why an address is not written to: its owner left by link or API, it refused a message for good, or a text
 * said STOP. A `complaint` says why an `unsubscribe` is there, and suppresses nothing by itself.
 */
export type SuppressionReason = "unsubscribe" | "bounce" | "stop" | "complaint";

export interface Suppression {
  readonly reason: SuppressionReason;
  /** When it began, Unix seconds. */
  readonly at: number;
}

/**
 * Addresses that are not written to on a channel. Kept as keyed hashes: a reader of the file can only
 * check an address that they know already. They outlive the person they were made for.
 */
export class SuppressionRows {
  readonly #database: Database;
  readonly #secrets: SecretRows;

  constructor(database: Database, secrets: SecretRows) {
    this.#database = database;
    this.#secrets = secrets;
  }

  /** The first one of each reason is kept; a repeat changes nothing. */
  async add(project: number, channel: Channel, address: string, { reason, at }: Suppression): Promise<void> {
    await addSuppression(this.#database, [
      project,
      channel,
      await suppressionHash(this.#secrets, channel, address),
      reason,
      at,
    ]);
  }

  async remove(project: number, channel: Channel, address: string, reason: SuppressionReason): Promise<void> {
    const key = await this.#secrets.read(SUPPRESSION_KEY);
    if (key === null) return;
    this.#database.send(
      "DELETE FROM suppressions WHERE project_id = ? AND channel = ? AND address_hash = ? AND reason = ?",
      [project, channel, hash(key, channel, address), reason],
    );
  }

  /** The hash of an address under which a suppression is stored; only in a write. */
  async hash(channel: Channel, address: string): Promise<string> {
    return suppressionHash(this.#secrets, channel, address);
  }

  /** As `add`, for an address of which only that is known; false when the reason was there already. */
  async addHash(project: number, channel: Channel, addressHash: string, { reason, at }: Suppression): Promise<boolean> {
    return addSuppression(this.#database, [project, channel, addressHash, reason, at]);
  }

  async list(project: number, channel: Channel, address: string): Promise<readonly Suppression[]> {
    const key = await this.#secrets.read(SUPPRESSION_KEY);
    // Without one nothing was ever suppressed.
    if (key === null) return [];
    const sql = `SELECT reason, created_at AS at FROM suppressions
        WHERE project_id = ? AND channel = ? AND address_hash = ? ORDER BY created_at, reason`;
    return (await this.#database.all(sql, [
      project,
      channel,
      hash(key, channel, address),
    ])) as unknown as readonly Suppression[];
  }
}

async function addSuppression(database: Database, values: readonly SqlValue[]): Promise<boolean> {
  const sql = `INSERT INTO suppressions (project_id, channel, address_hash, reason, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (project_id, channel, address_hash, reason) DO NOTHING`;
  return (await database.run(sql, values)) > 0;
}

/** In a write: the first one makes the file's key. */
export async function suppressionHash(secrets: SecretRows, channel: Channel, address: string): Promise<string> {
  return hash(await secrets.ensure(SUPPRESSION_KEY), channel, address);
}

/** Suppressions of e-mail by address, of those that have any. */
export async function suppressedEmails(
  database: Database,
  secrets: SecretRows,
  project: number,
  emails: readonly string[],
): Promise<ReadonlyMap<string, readonly Suppression[]>> {
  const key = await secrets.read(SUPPRESSION_KEY);
  if (key === null) return new Map();
  const byHash = new Map(emails.map((email) => [hash(key, "email", email), email]));
  const sql = `SELECT address_hash AS hash, reason, created_at AS at FROM suppressions
    WHERE project_id = ? AND channel = 'email' AND address_hash IN`;
  const found = new Map<string, Suppression[]>();
  for (const row of await allIn(database, sql, [project], [...byHash.keys()])) {
    const { hash: address, ...suppression } = row as unknown as Suppression & { readonly hash: string };
    const email = byHash.get(address) ?? "";
    found.set(email, [...(found.get(email) ?? []), suppression]);
  }
  return found;
}

function hash(key: string, channel: Channel, address: string): string {
  return createHmac("sha256", key)
    .update(channel === "email" ? emailKey(address) : address)
    .digest("hex");
}

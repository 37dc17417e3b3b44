import { createHmac } from "node:crypto";
import { emailKey } from "../../../contract/text/email.ts";
import type { Channel } from "../../../contract/routes.ts";
import { allIn, type Database, type SqlValue } from "../../sql/database.ts";
import { type SecretRows, SUPPRESSION_KEY } from "../secret-rows.ts";

/**
 * `unsubscribe` by link or API, `bounce` for a permanent rejection, `stop` for a text that said STOP. `complaint`
 * explains an `unsubscribe`, and suppresses nothing itself.
 */
export type SuppressionReason = "unsubscribe" | "bounce" | "stop" | "complaint";

export interface Suppression {
  readonly reason: SuppressionReason;
  readonly at: number;
}

/**
 * Suppressed addresses by channel, as keyed hashes: readers of the file can only check addresses that they already
 * know. They outlive their person.
 */
export class SuppressionRows {
  readonly #database: Database;
  readonly #secrets: SecretRows;

  constructor(database: Database, secrets: SecretRows) {
    this.#database = database;
    this.#secrets = secrets;
  }

  /** Keeps the first one of each reason. */
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

  async hash(channel: Channel, address: string): Promise<string> {
    return suppressionHash(this.#secrets, channel, address);
  }

  /** Like `add`, by the address's hash; false if the reason was already stored. */
  async addHash(project: number, channel: Channel, addressHash: string, { reason, at }: Suppression): Promise<boolean> {
    return addSuppression(this.#database, [project, channel, addressHash, reason, at]);
  }

  async list(project: number, channel: Channel, address: string): Promise<readonly Suppression[]> {
    const key = await this.#secrets.read(SUPPRESSION_KEY);
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

export async function suppressionHash(secrets: SecretRows, channel: Channel, address: string): Promise<string> {
  return hash(await secrets.ensure(SUPPRESSION_KEY), channel, address);
}

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

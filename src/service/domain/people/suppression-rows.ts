import { createHmac } from "node:crypto";
import { emailKey } from "../../../contract/text/email.ts";
import type { Channel } from "../../../contract/routes.ts";
import { allIn, type Database, type Session } from "../../sql/database.ts";
import { Rows } from "../../sql/rows.ts";
import { type SecretRows, SUPPRESSION_KEY } from "../secret-rows.ts";

/** `complaint` explains an `unsubscribe`, but doesn't suppress anything itself. */
export type SuppressionReason = "unsubscribe" | "bounce" | "stop" | "complaint";

export interface Suppression {
  readonly reason: SuppressionReason;
  readonly at: number;
}

/**
 * Stores addresses as keyed hashes, so that someone who reads the file can only check addresses that they already know.
 * Suppressions outlive their person.
 */
export class SuppressionRows extends Rows {
  readonly #secrets: SecretRows;

  constructor(database: Database, session: Session, secrets: SecretRows) {
    super(database, session);
    this.#secrets = secrets;
  }

  /** Keeps only the first suppression with each reason. */
  async add(project: number, channel: Channel, address: string, suppression: Suppression): Promise<void> {
    await this.addHash(project, channel, await this.hash(channel, address), suppression);
  }

  async remove(project: number, channel: Channel, address: string, reason: SuppressionReason): Promise<void> {
    const key = await this.#secrets.read(SUPPRESSION_KEY);
    if (key === null) return;
    this.database.send(
      "DELETE FROM suppressions WHERE project_id = ? AND channel = ? AND address_hash = ? AND reason = ?",
      [project, channel, hash(key, channel, address), reason],
    );
  }

  async hash(channel: Channel, address: string): Promise<string> {
    return hash(await this.#secrets.ensure(SUPPRESSION_KEY), channel, address);
  }

  /** Returns false if the reason was already stored. */
  async addHash(project: number, channel: Channel, addressHash: string, { reason, at }: Suppression): Promise<boolean> {
    const sql = `INSERT INTO suppressions (project_id, channel, address_hash, reason, created_at) VALUES (?, ?, ?, ?, ?)
      ON CONFLICT (project_id, channel, address_hash, reason) DO NOTHING`;
    return (await this.database.run(sql, [project, channel, addressHash, reason, at])) > 0;
  }

  async list(project: number, channel: Channel, address: string): Promise<readonly Suppression[]> {
    const key = await this.#secrets.read(SUPPRESSION_KEY);
    if (key === null) return [];
    const sql = `SELECT reason, created_at AS at FROM suppressions
        WHERE project_id = ? AND channel = ? AND address_hash = ? ORDER BY created_at, reason`;
    const values = [project, channel, hash(key, channel, address)];
    return (await this.database.all(sql, values)) as unknown as readonly Suppression[];
  }

  /** Omits addresses without suppressions. */
  async ofEmails(project: number, emails: readonly string[]): Promise<ReadonlyMap<string, readonly Suppression[]>> {
    const key = await this.#secrets.read(SUPPRESSION_KEY);
    if (key === null) return new Map();
    const byHash = new Map(emails.map((email) => [hash(key, "email", email), email]));
    const sql = `SELECT address_hash AS hash, reason, created_at AS at FROM suppressions
      WHERE project_id = ? AND channel = 'email' AND address_hash IN`;
    const found = new Map<string, Suppression[]>();
    for (const row of await allIn(this.database, sql, [project], [...byHash.keys()])) {
      const { hash: address, ...suppression } = row as unknown as Suppression & { readonly hash: string };
      const email = byHash.get(address) ?? "";
      found.set(email, [...(found.get(email) ?? []), suppression]);
    }
    return found;
  }
}

function hash(key: string, channel: Channel, address: string): string {
  return createHmac("sha256", key)
    .update(channel === "email" ? emailKey(address) : address)
    .digest("hex");
}

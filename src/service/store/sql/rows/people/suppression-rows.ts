import { createHmac } from "node:crypto";
import { emailKey } from "../../../../../contract/text/email.ts";
import type { Channel } from "../../../../../contract/routes.ts";
import type { Suppression, SuppressionRows } from "../../../../domain/ports.ts";
import { allIn, type Database, type SqlValue } from "../../../../sql/database.ts";
import { type FileSecrets, SUPPRESSION_KEY } from "../secret-rows.ts";

export function createSuppressionRows(database: Database, secrets: FileSecrets): SuppressionRows {
  return {
    add: async (project, channel, address, { reason, at }) => {
      await addSuppression(database, [project, channel, await suppressionHash(secrets, channel, address), reason, at]);
    },
    remove: async (project, channel, address, reason) => {
      const key = await secrets.read(SUPPRESSION_KEY);
      if (key === null) return;
      database.send(
        "DELETE FROM suppressions WHERE project_id = ? AND channel = ? AND address_hash = ? AND reason = ?",
        [project, channel, hash(key, channel, address), reason],
      );
    },
    hash: async (channel, address) => suppressionHash(secrets, channel, address),
    addHash: async (project, channel, addressHash, { reason, at }) =>
      addSuppression(database, [project, channel, addressHash, reason, at]),
    list: async (project, channel, address) => {
      const key = await secrets.read(SUPPRESSION_KEY);
      // Without one nothing was ever suppressed.
      if (key === null) return [];
      const sql = `SELECT reason, created_at AS at FROM suppressions
        WHERE project_id = ? AND channel = ? AND address_hash = ? ORDER BY created_at, reason`;
      return (await database.all(sql, [
        project,
        channel,
        hash(key, channel, address),
      ])) as unknown as readonly Suppression[];
    },
  };
}

async function addSuppression(database: Database, values: readonly SqlValue[]): Promise<boolean> {
  const sql = `INSERT INTO suppressions (project_id, channel, address_hash, reason, created_at) VALUES (?, ?, ?, ?, ?)
    ON CONFLICT (project_id, channel, address_hash, reason) DO NOTHING`;
  return (await database.run(sql, values)) > 0;
}

/** In a write: the first one makes the file's key. */
export async function suppressionHash(secrets: FileSecrets, channel: Channel, address: string): Promise<string> {
  return hash(await secrets.ensure(SUPPRESSION_KEY), channel, address);
}

/** Suppressions of e-mail by address, of those that have any. */
export async function suppressedEmails(
  database: Database,
  secrets: FileSecrets,
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

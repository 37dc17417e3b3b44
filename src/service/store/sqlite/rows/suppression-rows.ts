import { createHmac } from "node:crypto";
import { emailKey } from "../../../../contract/email.ts";
import type { Channel } from "../../../../contract/routes.ts";
import type { Suppression, SuppressionRows } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";

/** `secret` makes the key of a file that has none yet. */
export function createSuppressionRows(database: Database, secret: () => string): SuppressionRows {
  const hash = (channel: Channel, address: string): string =>
    createHmac("sha256", readKey(database, secret))
      .update(channel === "email" ? emailKey(address) : address)
      .digest("hex");
  return {
    add: async (project, channel, address, { reason, at }) => {
      database.run(
        `INSERT INTO suppressions (project_id, channel, address_hash, reason, created_at) VALUES (?, ?, ?, ?, ?)
         ON CONFLICT (project_id, channel, address_hash, reason) DO NOTHING`,
        [project, channel, hash(channel, address), reason, at],
      );
    },
    remove: async (project, channel, address, reason) => {
      database.run(
        "DELETE FROM suppressions WHERE project_id = ? AND channel = ? AND address_hash = ? AND reason = ?",
        [project, channel, hash(channel, address), reason],
      );
    },
    list: async (project, channel, address) => {
      const sql = `SELECT reason, created_at AS at FROM suppressions
        WHERE project_id = ? AND channel = ? AND address_hash = ? ORDER BY created_at, reason`;
      return database.all(sql, [project, channel, hash(channel, address)]) as unknown as readonly Suppression[];
    },
  };
}

/** The file's own secret: the same address has another hash in every data file. */
function readKey(database: Database, secret: () => string): string {
  const read = (): string | null => {
    const row = database.first("SELECT value FROM store_secrets WHERE name = 'suppression'");
    return row === null ? null : String(row.value);
  };
  const known = read();
  if (known !== null) return known;
  database.run("INSERT INTO store_secrets (name, value) VALUES ('suppression', ?)", [secret()]);
  return read() ?? "";
}

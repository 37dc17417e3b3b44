import type { SecretRows } from "../../../domain/ports.ts";
import type { Database } from "../database.ts";

export interface FileSecrets {
  readonly read: (name: string) => Promise<string | null>;
  /** Makes one that the file does not have yet. */
  readonly ensure: (name: string) => Promise<string>;
}

/** `secret` makes one that nobody can guess. */
export function createFileSecrets(database: Database, secret: () => string): FileSecrets {
  const read = async (name: string): Promise<string | null> => {
    const row = await database.first("SELECT value FROM store_secrets WHERE name = ?", [name]);
    return row === null ? null : String(row.value);
  };
  const make = async (name: string): Promise<string> => {
    const made = secret();
    // Another process may make it at the same time: the first one stands.
    database.send("INSERT INTO store_secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [name, made]);
    return (await read(name)) ?? made;
  };
  return { read, ensure: async (name) => (await read(name)) ?? make(name) };
}

export function createSecretRows({ read, ensure }: FileSecrets): SecretRows {
  return { read: async (name) => read(name), ensure: async (name) => ensure(name) };
}

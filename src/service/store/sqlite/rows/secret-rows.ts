import type { SecretRows } from "../../../domain/ports.ts";
import type { Database } from "../engine/database.ts";

export interface FileSecrets {
  readonly read: (name: string) => string | null;
  /** Makes one that the file does not have yet. */
  readonly ensure: (name: string) => string;
}

/** `secret` makes one that nobody can guess. */
export function createFileSecrets(database: Database, secret: () => string): FileSecrets {
  const read = (name: string): string | null => {
    const row = database.first("SELECT value FROM store_secrets WHERE name = ?", [name]);
    return row === null ? null : String(row.value);
  };
  const make = (name: string): string => {
    const made = secret();
    database.run("INSERT INTO store_secrets (name, value) VALUES (?, ?)", [name, made]);
    return made;
  };
  return { read, ensure: (name) => read(name) ?? make(name) };
}

export function createSecretRows({ read, ensure }: FileSecrets): SecretRows {
  return { read: async (name) => read(name), ensure: async (name) => ensure(name) };
}

import type { SecretRows } from "../../../domain/ports.ts";
import { type Database, textOrNull } from "../../../sql/database.ts";

export interface FileSecrets {
  readonly read: (name: string) => Promise<string | null>;
  /** Makes one that the file does not have yet. */
  readonly ensure: (name: string) => Promise<string>;
}

/** Keys the hashes of suppressed addresses. It is never replaced. */
export const SUPPRESSION_KEY = "suppression";

/**
 * `secret` makes an unguessable one. Rows of one transaction read the suppression key once: other processes suppress
 * nothing in a project that this one writes. A key that the transaction makes itself may be undone with its job.
 */
export function createFileSecrets(database: Database, secret: () => string, isOneTransaction: boolean): FileSecrets {
  const state = { suppressionKey: null as Promise<string | null> | null, isMaking: false };
  const look = async (name: string): Promise<string | null> => {
    const row = await database.first("SELECT value FROM store_secrets WHERE name = ?", [name]);
    return textOrNull(row?.value);
  };
  const read = async (name: string): Promise<string | null> => {
    if (!isOneTransaction || state.isMaking || name !== SUPPRESSION_KEY) return look(name);
    return (state.suppressionKey ??= look(name));
  };
  const make = async (name: string): Promise<string> => {
    state.isMaking = true;
    const made = secret();
    // Another process may make it at the same time: the first one is kept.
    await database.run("INSERT INTO store_secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [name, made]);
    return (await read(name)) ?? made;
  };
  return { read, ensure: async (name) => (await read(name)) ?? make(name) };
}

export function createSecretRows({ read, ensure }: Pick<FileSecrets, "read" | "ensure">): SecretRows {
  return { read: async (name) => read(name), ensure: async (name) => ensure(name) };
}

import type { SecretRows } from "../../../domain/ports.ts";
import type { Database } from "../database.ts";

export interface FileSecrets {
  readonly read: (name: string) => Promise<string | null>;
  /** Makes one that the file does not have yet. */
  readonly ensure: (name: string) => Promise<string>;
  /** Before a transaction: others may have made one. */
  readonly forget: () => void;
}

/**
 * `secret` makes an unguessable one. A name that `mayKeep` allows is remembered once it has a secret, since that never
 * changes; until then it is looked up once a transaction, since no other process can give it one that matters
 * meanwhile.
 */
export function createFileSecrets(
  database: Database,
  secret: () => string,
  mayKeep: (name: string) => boolean,
): FileSecrets {
  const stored = new Map<string, string>();
  let asked = new Map<string, Promise<string | null>>();
  const state = { isMaking: false };
  const look = async (name: string): Promise<string | null> => {
    const row = await database.first("SELECT value FROM store_secrets WHERE name = ?", [name]);
    return row === null ? null : String(row.value);
  };
  const lookOnce = async (name: string): Promise<string | null> => {
    const asking = asked.get(name) ?? look(name);
    asked.set(name, asking);
    const value = await asking;
    if (value !== null && !state.isMaking) stored.set(name, value);
    return value;
  };
  // What this transaction makes may be undone.
  const read = async (name: string): Promise<string | null> =>
    stored.get(name) ?? (mayKeep(name) && !state.isMaking ? lookOnce(name) : look(name));
  const make = async (name: string): Promise<string> => {
    const made = secret();
    state.isMaking = true;
    // Another process may make it at the same time: the first one is kept.
    database.send("INSERT INTO store_secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [name, made]);
    return (await look(name)) ?? made;
  };
  return {
    read,
    ensure: async (name) => (await read(name)) ?? make(name),
    forget: () => {
      asked = new Map();
      state.isMaking = false;
    },
  };
}

export function createSecretRows({ read, ensure }: Pick<FileSecrets, "read" | "ensure">): SecretRows {
  return { read: async (name) => read(name), ensure: async (name) => ensure(name) };
}

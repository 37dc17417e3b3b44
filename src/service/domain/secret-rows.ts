import { type Database, textOrNull } from "../sql/database.ts";

/** The key for hashing suppressed addresses. It is never replaced. */
export const SUPPRESSION_KEY = "suppression";

export class SecretRows {
  readonly #database: Database;
  readonly #make: () => string;
  readonly #isOneTransaction: boolean;
  #suppressionKey: Promise<string | null> | null = null;
  #hasMade = false;

  /**
   * With `isOneTransaction`, the suppression key is read only once, because no other process can add suppressions
   * during the transaction.
   */
  constructor(database: Database, make: () => string, isOneTransaction: boolean) {
    this.#database = database;
    this.#make = make;
    this.#isOneTransaction = isOneTransaction;
  }

  async read(name: string): Promise<string | null> {
    // A key created in this transaction isn't cached, because the job that created it may be undone.
    if (!this.#isOneTransaction || this.#hasMade || name !== SUPPRESSION_KEY) return this.#find(name);
    return (this.#suppressionKey ??= this.#find(name));
  }

  /** Creates the secret if it is missing. Requires a write transaction. */
  async ensure(name: string): Promise<string> {
    const known = await this.read(name);
    if (known !== null) return known;
    this.#hasMade = true;
    const made = this.#make();
    // If another process creates it at the same time, the first value is kept.
    await this.#database.run("INSERT INTO store_secrets (name, value) VALUES (?, ?) ON CONFLICT DO NOTHING", [
      name,
      made,
    ]);
    return (await this.read(name)) ?? made;
  }

  /** Null removes the secret. */
  async set(name: string, value: string | null): Promise<void> {
    this.#database.send("DELETE FROM store_secrets WHERE name = ?", [name]);
    if (value !== null) this.#database.send("INSERT INTO store_secrets (name, value) VALUES (?, ?)", [name, value]);
  }

  async #find(name: string): Promise<string | null> {
    const row = await this.#database.first("SELECT value FROM store_secrets WHERE name = ?", [name]);
    return textOrNull(row?.value);
  }
}

/** Numbered steps from the baseline to today's schema, and how a store's own version is told. */
import { systemRandom } from "../../../../runtime/random.ts";
import type { Database } from "../database.ts";
import { BASELINE } from "./baseline.ts";

/**
 * Each runs in a transaction. Its statements make or change one thing each, so that a store can be compared with them.
 */
export interface Migration {
  /** From 2 on, one after the other. */
  readonly version: number;
  readonly statements: readonly string[];
  /** Work that SQL alone cannot do; runs after the statements. */
  readonly run?: (database: Database) => Promise<void>;
}

export const MIGRATIONS: readonly Migration[] = [
  { version: 2, statements: ["ALTER TABLE digests ADD COLUMN allow_private INTEGER NOT NULL DEFAULT 0"] },
];

/** The version that a store has once all of these are applied. */
export function newestOf(migrations: readonly Migration[]): number {
  return migrations.at(-1)?.version ?? BASELINE;
}

/** Has a row for each version that was applied. Its name is the mark of our schema. */
export const VERSIONS_TABLE = "schema_versions";

/** Had them in versions before the baseline, whose numbers mean nothing today. */
const OUTDATED_TABLE = "schema_migrations";

/** The owner of these tables; `none` of an empty store. */
export function recognizeSchema(tables: readonly string[]): "none" | "ours" | "outdated" | "foreign" {
  if (tables.length === 0) return "none";
  if (tables.includes(VERSIONS_TABLE)) return "ours";
  return tables.includes(OUTDATED_TABLE) && tables.includes("survey_requests") ? "outdated" : "foreign";
}

/** Words for a store of before the baseline; they follow the name of the store. */
export const IS_OUTDATED =
  "was written by an older version, which this one cannot read; copy it with `service backup` of that version, and start with a new one";

/** The tables, indexes and triggers that these statements leave behind. */
export function namesOf(statements: readonly string[]): ReadonlySet<string> {
  const expected = new Set<string>();
  for (const statement of statements) {
    const [, verb, name = ""] =
      /^\s*(CREATE|DROP)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|TRIGGER)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(\w+)/i.exec(
        statement,
      ) ?? [];
    const [, from = "", to = ""] = /^\s*ALTER\s+TABLE\s+(\w+)\s+RENAME\s+TO\s+(\w+)/i.exec(statement) ?? [];
    if (verb?.toUpperCase() === "CREATE") expected.add(name);
    else if (verb !== undefined) expected.delete(name);
    else if (expected.delete(from)) expected.add(to);
  }
  return expected;
}

const SECRET_BYTES = 32;

/** Made with the schema, so that every backup from then on has the same: the erasures of one are known to the other. */
export async function makeErasureSecret(database: Database): Promise<void> {
  await database.run("INSERT INTO store_secrets (name, value) VALUES ('erasure', ?)", [
    systemRandom.token(SECRET_BYTES),
  ]);
}

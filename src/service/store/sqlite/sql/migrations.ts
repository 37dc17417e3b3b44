/** Numbered steps from an empty file to today's schema; each runs in a transaction of its own. */
import { emailKey } from "../../../../contract/email.ts";
import type { Database } from "../engine/database.ts";
import { ADD_DELIVERIES, ADD_REPORTS, giveUnsubscribeTokens } from "./delivery-schema.ts";
import { COUNT_NPS_ALONE, KEEP_COUNTS } from "./list-blocks-schema.ts";
import { ADD_DIGESTS, ADD_PROJECT_SETTINGS, ADD_SUPPRESSIONS, ADD_SURVEY_LINKS, CREATE_SCHEMA } from "./schema.ts";
import { ADD_WEBHOOKS } from "./webhook-schema.ts";
import { StoreFileError } from "../../store-errors.ts";

export interface Migration {
  readonly version: number;
  readonly statements: readonly string[];
  /** What SQL alone cannot do; runs after the statements. */
  readonly run?: (database: Database) => void;
}

/**
 * `clock` holds the newest time that a transaction has had. `erased_surveys` holds those whose messages may still lie
 * in
 * an outbox after their person was deleted, until they are removed there.
 */
const CLOCK_AND_ERASURE = [
  "CREATE TABLE clock (newest_at INTEGER NOT NULL)",
  `INSERT INTO clock (newest_at) SELECT max(
    coalesce((SELECT max(updated_at) FROM responses), 0), coalesce((SELECT max(created_at) FROM people), 0))`,
  `CREATE TABLE erased_surveys (
    token TEXT NOT NULL PRIMARY KEY,
    project_id INTEGER NOT NULL,
    request_id INTEGER NOT NULL,
    channel TEXT NOT NULL
  )`,
  `CREATE TRIGGER erased_surveys_of_people AFTER DELETE ON survey_requests WHEN OLD.attempts > 0 BEGIN
    INSERT INTO erased_surveys (token, project_id, request_id, channel)
    VALUES (OLD.token, OLD.project_id, OLD.id, OLD.channel);
  END`,
];

export const MIGRATIONS: readonly Migration[] = [
  { version: 1, statements: CREATE_SCHEMA },
  { version: 2, statements: ADD_SUPPRESSIONS },
  { version: 3, statements: [], run: renewEmailKeys },
  { version: 4, statements: CLOCK_AND_ERASURE },
  { version: 5, statements: KEEP_COUNTS },
  // `deleteRequests` notes erased surveys.
  { version: 6, statements: ["DROP TRIGGER erased_surveys_of_people"] },
  { version: 7, statements: ADD_DELIVERIES, run: giveUnsubscribeTokens },
  { version: 8, statements: ADD_PROJECT_SETTINGS },
  { version: 9, statements: ADD_REPORTS },
  { version: 10, statements: ADD_SURVEY_LINKS },
  { version: 11, statements: COUNT_NPS_ALONE },
  { version: 12, statements: ADD_WEBHOOKS },
  { version: 13, statements: ADD_DIGESTS },
];

/**
 * Addresses are compared in Unicode's composed form, with only ASCII letters folded before the `@`. Where that makes
 * two people one, the key stays with the one who has it, and the other keeps an older key.
 */
function renewEmailKeys(database: Database): void {
  const people = database.all("SELECT project_id, id, email FROM people WHERE email GLOB '*[^ -~]*' ORDER BY 1, 2");
  for (const { project_id: project = null, id = null, email } of people) {
    const key = emailKey(String(email));
    database.all("UPDATE OR IGNORE people SET email_key = ? WHERE project_id = ? AND id = ?", [key, project, id]);
  }
}

/** Brings the file up to date; a file of another program or a newer version is refused untouched. */
export function migrate(database: Database, migrations: readonly Migration[], now: number): void {
  const tables = database.all(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite~_%' ESCAPE '~'",
  );
  const isOurs = tables.some(({ name }) => name === "schema_migrations");
  if (!isOurs && tables.length > 0) throw new StoreFileError("foreign", "this is a SQLite file of another program");
  const current = isOurs
    ? Number(database.first("SELECT max(version) AS version FROM schema_migrations")?.version ?? 0)
    : 0;
  if (isOurs && current === 0) throw new StoreFileError("damaged", "the list of its schema's versions is empty");
  const newest = migrations.at(-1)?.version ?? 0;
  if (current > newest)
    throw new StoreFileError(
      "newer",
      `this file was written by a newer version (schema ${current}, this one knows ${newest})`,
    );
  for (const migration of migrations.filter(({ version }) => version > current)) runMigration(database, migration, now);
}

/** Tables, indexes and triggers that these migrations make and that are not there. */
export function findMissing(database: Database, migrations: readonly Migration[]): string[] {
  const expected = new Set<string>();
  for (const statement of migrations.flatMap(({ statements }) => statements)) {
    const [, verb, name = ""] =
      /^\s*(CREATE|DROP)\s+(?:UNIQUE\s+)?(?:TABLE|INDEX|TRIGGER)\s+(?:IF\s+(?:NOT\s+)?EXISTS\s+)?(\w+)/i.exec(
        statement,
      ) ?? [];
    const [, from = "", to = ""] = /^\s*ALTER\s+TABLE\s+(\w+)\s+RENAME\s+TO\s+(\w+)/i.exec(statement) ?? [];
    if (verb?.toUpperCase() === "CREATE") expected.add(name);
    else if (verb !== undefined) expected.delete(name);
    else if (expected.delete(from)) expected.add(to);
  }
  for (const { name } of database.all("SELECT name FROM sqlite_master")) expected.delete(String(name));
  return [...expected];
}

function runMigration(database: Database, { version, statements, run }: Migration, now: number): void {
  database.exec("BEGIN IMMEDIATE");
  try {
    database.exec(
      "CREATE TABLE IF NOT EXISTS schema_migrations (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)",
    );
    for (const statement of statements) database.exec(statement);
    run?.(database);
    database.all("INSERT INTO schema_migrations (version, applied_at) VALUES (?, ?)", [version, now]);
    database.exec("COMMIT");
  } catch (error) {
    database.exec("ROLLBACK");
    throw error;
  }
}

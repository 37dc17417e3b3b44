import type { ClientBase } from "pg";
import { type Clock, unixSeconds } from "../../../runtime/clock.ts";
import { StoreDatabaseError } from "../store-errors.ts";
import type { SchemaDialect } from "../../sql/schema/baseline.ts";
import {
  type Execute,
  IS_OUTDATED,
  type Migration,
  MIGRATIONS,
  newestVersion,
  recognizeSchema,
  stepsFrom,
  VERSIONS_TABLE,
} from "../../sql/schema/migrations.ts";
import { MARK_EMPTY } from "../sql/store-marks.ts";
import { createStatements } from "./statements.ts";

/**
 * The advisory lock holds until the transaction ends. If another program uses the same number, it only causes a delay.
 */
export const LOCK_SCHEMA = "SELECT pg_advisory_xact_lock(7203116511)";
const OLDEST = 140_000;

/** Other queries wait while a schema change waits for its lock, so it gives up after a second and retries. */
const LOCK_MS = 1_000;
const LOCK_TRIES = 30;

export interface MigrateOptions {
  readonly clock: Clock;
  readonly mayMigrate: boolean;
  readonly mayCreate?: boolean;
  readonly migrations?: readonly Migration[];
  readonly filledBy?: string | undefined;
}

/** Returns the schema's version before and after. Throws StoreDatabaseError for a database that can't be used. */
export async function migrateServer(
  client: ClientBase,
  { clock, mayMigrate, mayCreate = true, migrations = MIGRATIONS, filledBy }: MigrateOptions,
): Promise<{ readonly from: number; readonly to: number }> {
  await checkServer(client);
  const newest = newestVersion(migrations);
  const seen = await readVersion(client);
  if (seen === 0 && !mayCreate) throw new StoreDatabaseError("empty", "the database is empty");
  if (seen === 0) await checkEncoding(client);
  if (seen === newest && filledBy === undefined) return { from: seen, to: newest };
  if (seen > newest) throw newer(seen, newest);
  if (seen < newest && !mayMigrate)
    throw new StoreDatabaseError("older", `the database has schema ${seen} and this version needs ${newest}`);
  for (let tries = 1; ; tries += 1) {
    try {
      return { from: await runMigrations(client, migrations, filledBy, unixSeconds(clock)), to: newest };
    } catch (error) {
      if (!isLocked(error)) throw error;
      if (tries === LOCK_TRIES)
        throw new StoreDatabaseError("slow", "the schema cannot be changed while a dump or others use it", {
          cause: error,
        });
      await clock.sleep(LOCK_MS);
    }
  }
}

async function runMigrations(
  client: ClientBase,
  migrations: readonly Migration[],
  filledBy: string | undefined,
  now: number,
): Promise<number> {
  const newest = newestVersion(migrations);
  await client.query(`BEGIN; SET LOCAL lock_timeout = ${LOCK_MS}`);
  try {
    await client.query(LOCK_SCHEMA);
    const from = await readVersion(client);
    if (from > newest) throw newer(from, newest);
    const statementOf = createStatements();
    const execute: Execute = (sql, values = []) => client.query(statementOf(sql).text, [...values]);
    for (const { version, statements, run } of stepsFrom(from, migrations)) {
      for (const statement of statements(POSTGRESQL)) await client.query(statement);
      await run?.(execute);
      await execute(`INSERT INTO ${VERSIONS_TABLE} (version, applied_at) VALUES (?, ?)`, [version, now]);
    }
    if (filledBy !== undefined) await execute(MARK_EMPTY, [filledBy]);
    await client.query("COMMIT");
    return from;
  } catch (error) {
    await client.query("ROLLBACK").catch(() => undefined);
    throw error;
  }
}

function isLocked(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "55P03";
}

const ABOUT_SERVER = `SELECT version() AS version, current_setting('server_version') AS short,
  current_setting('server_version_num') AS number, EXISTS (SELECT 1 FROM pg_class c JOIN pg_namespace n
  ON n.oid = c.relnamespace WHERE n.nspname = 'sys' AND c.relname = 'iam_pg_role_mappings') AS "hasRoleMappings"`;

/** Refuses servers that would fail later, during a write. */
async function checkServer(client: ClientBase): Promise<void> {
  const { rows } = await client.query<ServerInfo>(ABOUT_SERVER);
  const problem = findProblem(rows[0]!);
  if (problem !== null) throw new StoreDatabaseError("unsupported", `${problem}; PostgreSQL 14 or newer is required`);
}

interface ServerInfo {
  readonly version: string;
  readonly short: string;
  readonly number: string;
  readonly hasRoleMappings: boolean;
}

function findProblem({ version, short, number, hasRoleMappings }: ServerInfo): string | null {
  if (version.startsWith("CockroachDB"))
    return "CockroachDB cannot tell whether a transaction was committed (pg_xact_status)";
  if (version.includes("-YB-")) return "YugabyteDB loses savepoints in pipelined transactions (yugabyte-db#33921)";
  // PostgreSQL's own version text also names the platform and compiler.
  if (hasRoleMappings || /^PostgreSQL [\d.]+$/.test(version))
    return "Aurora DSQL has no foreign keys and no savepoints";
  return Number(number) < OLDEST ? `PostgreSQL ${short} is too old` : null;
}

/** Other encodings can't store every character. */
async function checkEncoding(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ encoding: string }>("SELECT current_setting('server_encoding') AS encoding");
  const [{ encoding } = { encoding: "" }] = rows;
  if (encoding !== "UTF8")
    throw new StoreDatabaseError("unsupported", `the database has the encoding ${encoding}; UTF8 is required`);
}

async function readVersion(client: ClientBase): Promise<number> {
  const { rows: tables } = await client.query<{ name: string }>(
    "SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()",
  );
  const whose = recognizeSchema(tables.map(({ name }) => name));
  if (whose === "none") return 0;
  if (whose === "outdated") throw new StoreDatabaseError("outdated", `the database ${IS_OUTDATED}`);
  if (whose === "foreign")
    throw new StoreDatabaseError("foreign", "the database has tables of another program; an empty one is required");
  const { rows } = await client.query<{ version: string | null }>(
    `SELECT max(version) AS version FROM ${VERSIONS_TABLE}`,
  );
  return Number(rows[0]?.version ?? 0);
}

function newer(found: number, known: number): StoreDatabaseError {
  return new StoreDatabaseError(
    "newer",
    `the database was written by a newer version (schema ${found}, this one knows ${known})`,
  );
}

const POSTGRESQL: SchemaDialect = {
  engine: "postgresql",
  int: "BIGINT",
  text: 'TEXT COLLATE "C"',
  behind: ({ storage }) => (storage === undefined ? "" : ` WITH (${storage})`),
};

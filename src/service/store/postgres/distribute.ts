import type { ClientBase } from "pg";
import { TABLES } from "../../sql/schema/baseline.ts";
import { VERSIONS_TABLE } from "../../sql/schema/migrations.ts";
import { StoreDatabaseError } from "../store-errors.ts";
import { openPool, readTarget, withConnection } from "./connections.ts";
import { LOCK_SCHEMA } from "./migrate.ts";
import { classifyError, isOfServer, unavailable } from "./postgres-errors.ts";

/** API keys are looked up by hash, before their project is known, so this table isn't distributed by project. */
const FOUND_WITHOUT_PROJECT = "api_keys";

/** Tables whose rows are stored on their project's node. The other tables are small and replicated to every node. */
export const DISTRIBUTED: readonly string[] = TABLES.filter(
  ({ name, columns }) => columns.startsWith("project_id ") && name !== FOUND_WITHOUT_PROJECT,
).map(({ name }) => name);
const COPIED = [VERSIONS_TABLE, ...TABLES.map(({ name }) => name).filter((name) => !DISTRIBUTED.includes(name))];

/**
 * Joins and foreign keys require that all of a project's rows are on one node, so the other tables are colocated with
 * this one.
 */
const ANCHOR = "project_state";

/** Citus requires this, because our foreign keys to reference tables rule out parallel connections to a node. */
const SEQUENTIAL = "citus.multi_shard_modify_mode = 'sequential'";
const NOT_ALLOWED = "42501";

export interface Distribution {
  readonly distributed: number;
  readonly copied: number;
  /** The statement that the database's owner must run, because this user can't. */
  readonly missing: string | null;
}

/** `migrate` updates the schema and refuses a database that is in use. Throws StoreDatabaseError. */
export async function distributeDatabase(url: string, migrate: () => Promise<void>): Promise<Distribution> {
  const pool = openPool(readTarget(url));
  try {
    return await withConnection(pool, async (client) => {
      const { rowCount } = await client.query("SELECT 1 FROM pg_extension WHERE extname = 'citus'");
      if (rowCount === 0) throw new StoreDatabaseError("unsupported", WITHOUT_CITUS);
      await migrate();
      await distribute(client).catch(explainRefusal);
      return { distributed: DISTRIBUTED.length, copied: COPIED.length, missing: await setSequential(client) };
    });
  } catch (error) {
    throw classifyError(error) === "fault" ? error : unavailable(error);
  } finally {
    await pool.end();
  }
}

/** Citus can refuse because a node is down, or because of what others have added to the database. */
function explainRefusal(error: unknown): never {
  if (!(error instanceof Error) || !isOfServer(error) || classifyError(error) !== "fault") throw error;
  throw new StoreDatabaseError("unsupported", `nothing was distributed: ${error.message}`, { cause: error });
}

const WITHOUT_CITUS =
  "the database has no Citus; install it on every node and run CREATE EXTENSION citus in the database first";

const DONE = "SELECT logicalrelid FROM pg_dist_partition WHERE partmethod = 'h' OR repmodel = 't'";
const FOREIGN_KEYS = `SELECT CAST(conrelid::regclass AS TEXT) AS table, quote_ident(conname) AS name,
  pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE contype = 'f' AND connamespace = current_schema()::regnamespace AND conrelid NOT IN (${DONE})`;

/** One transaction, so that a failure leaves everything as it was. */
async function distribute(client: ClientBase): Promise<void> {
  await client.query(`BEGIN; SET LOCAL ${SEQUENTIAL}`);
  await client.query(LOCK_SCHEMA);
  const { rows: done } = await client.query<{ name: string }>(
    `SELECT CAST(logicalrelid AS TEXT) AS name FROM (${DONE}) d`,
  );
  const isLeft = (table: string): boolean => !done.some(({ name }) => name === table);
  const { rows: keys } = await client.query<Record<"table" | "name" | "definition", string>>(FOREIGN_KEYS);
  for (const { table, name } of keys) await client.query(`ALTER TABLE ${table} DROP CONSTRAINT ${name}`);
  for (const table of COPIED.filter(isLeft)) await client.query(`SELECT create_reference_table('${table}')`);
  for (const table of DISTRIBUTED.filter(isLeft))
    await client.query(
      `SELECT create_distributed_table('${table}', 'project_id', colocate_with => '${table === ANCHOR ? "none" : ANCHOR}')`,
    );
  // Distributing a table copies its rows to the nodes. The originals would stay on disk, where erasures don't reach
  // them.
  for (const table of [...COPIED, ...DISTRIBUTED].filter(isLeft))
    await client.query(`SELECT truncate_local_data_after_distributing_table('${table}')`);
  for (const { table, name, definition } of keys)
    await client.query(`ALTER TABLE ${table} ADD CONSTRAINT ${name} ${definition}`);
  await client.query("COMMIT");
}

async function setSequential(client: ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ name: string }>("SELECT quote_ident(current_database()) AS name");
  const statement = `ALTER DATABASE ${rows[0]?.name} SET ${SEQUENTIAL}`;
  try {
    await client.query(statement);
    return null;
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === NOT_ALLOWED) return statement;
    throw error;
  }
}

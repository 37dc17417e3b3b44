import type { PoolClient } from "pg";
import type { Vacuumed } from "../../domain/ports.ts";
import { FIND_MISCOUNTED } from "../../sql/lists/recount.ts";

export async function askTime(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ ms: unknown }>(
    "SELECT floor(extract(epoch FROM clock_timestamp()) * 1000) AS ms",
  );
  return Number(rows[0]?.ms);
}

export async function readOldestTransaction(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ age: number }>(OLDEST_TRANSACTION);
  return Number(rows[0]?.age);
}

const OLDEST_TRANSACTION = `SELECT coalesce(extract(epoch FROM max(clock_timestamp() - xact_start)), 0) AS age
  FROM pg_stat_activity WHERE datname = current_database() AND backend_xmin IS NOT NULL AND pid <> pg_backend_pid()`;

/** Removes deleted rows from the tables, but not from the server's log and backups. */
export async function vacuum(client: PoolClient): Promise<Vacuumed> {
  const bytesBefore = await readSize(client);
  await client.query("VACUUM");
  return { bytesBefore, bytesAfter: await readSize(client) };
}

async function readSize(client: PoolClient): Promise<number> {
  const { rows } = await client.query<{ bytes: unknown }>("SELECT pg_database_size(current_database()) AS bytes");
  return Number(rows[0]?.bytes);
}

export async function findMiscounted(client: PoolClient): Promise<readonly string[]> {
  const { rows } = await client.query<{ project_id: unknown; list: string }>(FIND_MISCOUNTED);
  return rows.map(({ project_id: project, list }) => `the counts of ${list} in project ${String(project)} are wrong`);
}

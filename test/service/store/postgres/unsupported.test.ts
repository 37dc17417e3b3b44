import { Client } from "pg";
import { describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { openPostgresStore } from "../../../../src/service/store/postgres/open-postgres-store.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";

interface Server {
  readonly version: string;
  readonly number: string;
  readonly also?: string;
}

/** A real PostgreSQL whose version functions are shadowed in one database. */
async function databaseOf({ version, number, also = "" }: Server): Promise<string> {
  const url = await newDatabase();
  const client = new Client({ connectionString: url });
  await client.connect();
  const [, short] = /^(?:PostgreSQL )?(\S+)/.exec(version)!;
  await client.query(`CREATE SCHEMA other;
    CREATE FUNCTION other.version() RETURNS text LANGUAGE sql AS $$ SELECT '${version}' $$;
    CREATE FUNCTION other.current_setting(name text) RETURNS text LANGUAGE sql AS $$ SELECT CASE name
      WHEN 'server_version_num' THEN '${number}' WHEN 'server_version' THEN '${short}'
      ELSE pg_catalog.current_setting(name) END $$;
    ${also}
    DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET search_path = other, pg_catalog, public', current_database()); END $$`);
  await client.end();
  return url;
}

const ROLES = "CREATE SCHEMA sys; CREATE VIEW sys.iam_pg_role_mappings AS SELECT 1 AS iam_oid;";

const SERVERS: readonly (readonly [string, Server, string])[] = [
  [
    "CockroachDB",
    { version: "CockroachDB CCL v24.3.5 (x86_64-pc-linux-gnu, built 2025/02/03 17:28:15, go1.22.8)", number: "130000" },
    "CockroachDB cannot tell whether a transaction was committed (pg_xact_status)",
  ],
  [
    "YugabyteDB on PostgreSQL 11",
    {
      version: "PostgreSQL 11.2-YB-2.20.1.3-b0 on x86_64-pc-linux-gnu, compiled by clang version 16",
      number: "110002",
    },
    "YugabyteDB loses savepoints in pipelined transactions (yugabyte-db#33921)",
  ],
  [
    "YugabyteDB on PostgreSQL 15",
    { version: "PostgreSQL 15.2-YB-2025.2.2.2-b0 on x86_64-pc-linux-gnu, compiled by clang", number: "150002" },
    "YugabyteDB loses savepoints in pipelined transactions (yugabyte-db#33921)",
  ],
  [
    "Aurora DSQL by its version",
    { version: "PostgreSQL 16", number: "160000" },
    "Aurora DSQL has no foreign keys and no savepoints",
  ],
  [
    "Aurora DSQL by its roles",
    { version: "PostgreSQL 16.9 on aarch64-unknown-linux-gnu", number: "160009", also: ROLES },
    "Aurora DSQL has no foreign keys and no savepoints",
  ],
  [
    "PostgreSQL 13",
    { version: "PostgreSQL 13.23 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 10.2.1, 64-bit", number: "130023" },
    "PostgreSQL 13.23 is too old",
  ],
];

describe.skipIf(!hasPostgres)("a start", () => {
  test.each(SERVERS)("%s is refused by name and reason", async (_, server, reason) => {
    const url = await databaseOf(server);
    await expect(openPostgresStore({ url, clock: systemClock })).rejects.toMatchObject({
      trouble: "unsupported",
      message: `${reason}; PostgreSQL 14 or newer is required`,
    });
  });

  test.each([
    ["PostgreSQL 14.0 on x86_64-pc-linux-gnu, compiled by gcc (GCC) 4.8.5 20150623, 64-bit", "140000"],
    ["PostgreSQL 18.1 (Debian 18.1-1.pgdg13+2) on x86_64-pc-linux-gnu, compiled by gcc, 64-bit", "180001"],
  ])("%s is accepted", async (version, number) => {
    const url = await databaseOf({ version, number });
    await expect(openPostgresStore({ url, clock: systemClock, mayCreate: false })).rejects.toMatchObject({
      trouble: "empty",
    });
  });
});

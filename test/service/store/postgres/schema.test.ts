/** Both engines share one schema, which also has to suit a distributed database. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../../src/runtime/clock.ts";
import { migrate } from "../../../../src/service/store/sqlite/engine/migrate.ts";
import { openPostgresStore } from "../../../../src/service/store/postgres/open-postgres-store.ts";
import { hasPostgres, newDatabase } from "../../../helpers/postgres.ts";
import { openRawDatabase } from "../engines.ts";

/** Small tables that every node of a distributed database has a copy of. */
const GLOBAL = [
  "api_keys_by_hash",
  "delivery_reports_pkey",
  "delivery_state_pkey",
  "processes_pkey",
  "projects_by_name",
  "projects_pkey",
  "schema_versions_pkey",
  "store_marks_pkey",
  "store_secrets_pkey",
  "text_parts_pkey",
  "upkeep_state_pkey",
];

describe.skipIf(!hasPostgres)("the schema of a server", () => {
  let client: Client;
  const ask = async (sql: string) => (await client.query<Record<string, string>>(sql)).rows;
  beforeAll(async () => {
    const url = await newDatabase();
    await (await openPostgresStore({ url, clock: systemClock })).close();
    client = new Client({ connectionString: url });
    await client.connect();
  });
  afterAll(() => client.end());

  test("when it is compared with a file's, then tables, columns and named indexes are the same", async () => {
    const file = await openRawDatabase();
    await migrate(file, 0);
    const tables = file.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'");
    const columns = tables.flatMap(({ name: table }) =>
      file
        .all(`PRAGMA table_info(${String(table)})`)
        .map(({ name, type, notnull }) => `${table}.${name} ${type} ${notnull === 1 ? "NO" : "YES"}`),
    );
    const indexes = file.all("SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL");
    const there = await ask(`SELECT table_name || '.' || column_name || ' ' ||
        CASE data_type WHEN 'bigint' THEN 'INTEGER' WHEN 'text' THEN 'TEXT' ELSE data_type END || ' ' || is_nullable AS line
      FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
      WHERE table_schema = current_schema() AND table_type = 'BASE TABLE'`);
    expect(there.map(({ line = "" }) => line).toSorted()).toEqual(columns.toSorted());
    const named = await ask("SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()");
    const names = named.map(({ name = "" }) => name).filter((name) => !name.endsWith("_pkey"));
    expect(names.toSorted()).toEqual(indexes.map(({ name }) => String(name)).toSorted());
    file.close();
  });

  test("when its keys are read, then the project leads each but those of small tables", async () => {
    const unique = await ask(`SELECT indexname AS name, indexdef AS sql FROM pg_indexes
      WHERE schemaname = current_schema() AND indexdef LIKE 'CREATE UNIQUE%'`);
    const others = unique.filter(({ sql = "" }) => !sql.includes("(project_id")).map(({ name = "" }) => name);
    expect(others.toSorted()).toEqual(GLOBAL);
  });

  test("when its catalog is read, then there is no sequence, trigger, function or extension of ours", async () => {
    const [found] = await ask(`SELECT (SELECT count(*) FROM pg_sequences)
      + (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal)
      + (SELECT count(*) FROM pg_proc WHERE pronamespace = current_schema()::regnamespace)
      + (SELECT count(*) FROM pg_extension WHERE extname <> 'plpgsql') AS n`);
    expect(Number(found?.["n"])).toBe(0);
  });
});

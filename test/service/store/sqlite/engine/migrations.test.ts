import { readFileSync } from "node:fs";
import path from "node:path";
import { describe, expect, test } from "vitest";
import type { SqliteDatabase } from "../../../../../src/service/store/sqlite/engine/database.ts";
import {
  type Migration,
  MIGRATIONS,
  newestVersion,
  stepsFrom,
} from "../../../../../src/service/sql/schema/migrations.ts";
import { refuseParts } from "../../../../../src/service/store/sqlite/refuse-unfit.ts";
import { lookBy, migrate, SQLITE } from "../../../../../src/service/store/sqlite/engine/migrate.ts";
import { inspectCopy } from "../../../../../src/service/store/sqlite/inspect-copy.ts";
import { openFixture, START } from "../../../domain/fixture.ts";
import { newDataFile, openRawDatabase } from "../../engines.ts";

const NEXT: Migration = {
  version: newestVersion(MIGRATIONS) + 1,
  statements: () => [
    "CREATE TABLE extra (one TEXT)",
    "INSERT INTO extra VALUES ('first')",
    "ALTER TABLE people ADD COLUMN later TEXT",
  ],
  run: (execute) => execute("UPDATE people SET later = name"),
};

function partsOf(database: SqliteDatabase): unknown[] {
  return database
    .all(`SELECT m.type, m.name, m.tbl_name, c.name AS "column", c.type AS of, c."notnull", c.dflt_value
    FROM sqlite_master m LEFT JOIN pragma_table_info(m.name) c ON m.type = 'table' ORDER BY 1, 2, 4`)
    .map((row) => ({ ...row }));
}

describe("a data file", () => {
  test("when a file is of the schema before, then the next migration changes it once", async () => {
    const database = await openRawDatabase();
    const ask = (sql: string) => database.all(sql).map((row) => ({ ...row }));
    await migrate(database, START);
    database.exec("INSERT INTO projects (id, name, created_at) VALUES (1, 'default', 0)");
    database.exec("INSERT INTO people (project_id, id, name, created_at) VALUES (1, 1, 'Ada', 0)");
    await migrate(database, START, [...MIGRATIONS, NEXT]);
    await migrate(database, START, [...MIGRATIONS, NEXT]);
    expect(ask("SELECT one FROM extra")).toEqual([{ one: "first" }]);
    expect(ask("SELECT later FROM people")).toEqual([{ later: "Ada" }]);
    expect(ask("SELECT version FROM schema_versions ORDER BY 1")).toEqual(
      stepsFrom(0, [...MIGRATIONS, NEXT]).map(({ version }) => ({ version })),
    );
    await expect(migrate(database, START)).rejects.toMatchObject({ trouble: "newer" });
    database.close();
  });

  test("a file of schema 1 gets the schema of a new one", async () => {
    const [old, made] = [await openRawDatabase(), await openRawDatabase()];
    old.exec(readFileSync(path.join(import.meta.dirname, "../../../../fixtures/schema-1.sql"), "utf8"));
    refuseParts(lookBy(old), 1);
    old.exec("CREATE TRIGGER undo AFTER INSERT ON people BEGIN SELECT 1; END");
    expect(() => refuseParts(lookBy(old), 1)).toThrow("a trigger that is not surveyctl's: undo, on people");
    old.exec("DROP TRIGGER undo");
    await migrate(old, START);
    await migrate(made, START);
    expect(partsOf(old)).toEqual(partsOf(made));
    refuseParts(lookBy(old), newestVersion(MIGRATIONS));
    for (const database of [old, made]) database.close();
  });

  test("when a migration fails at any statement, then the file is as it was and the next try succeeds", async () => {
    const file = newDataFile();
    const statements = NEXT.statements(SQLITE);
    for (let index = 0; index <= statements.length; index += 1) {
      const database = await openRawDatabase(file);
      await migrate(database, START);
      const broken = { ...NEXT, statements: () => [...statements.slice(0, index), "nonsense"] };
      await expect(migrate(database, START, [...MIGRATIONS, broken])).rejects.toThrow("syntax error");
      refuseParts(lookBy(database), newestVersion(MIGRATIONS));
      database.close();
    }
    const fixture = await openFixture({ file });
    expect(await fixture.store.check()).toEqual([]);
    await fixture.store.close();
  });

  test("what a migration made is ours, and damage if it is gone; a trigger that none made is refused", async () => {
    const database = await openRawDatabase();
    const migrations = [...MIGRATIONS, NEXT];
    const check = (): void => refuseParts(lookBy(database), NEXT.version, migrations);
    await migrate(database, START, migrations);
    check();
    database.exec("CREATE TRIGGER undo AFTER INSERT ON extra BEGIN SELECT 1; END");
    expect(check).toThrow("the file has a trigger that is not surveyctl's: undo, on extra; drop it to use the file");
    database.exec("DROP TABLE extra");
    expect(check).toThrow("the file is damaged: extra is missing");
    database.close();
  });

  test.each([1, 7, 21])(
    "when a file is of version %i of the schema before, then it is refused and keeps its rows",
    async (version) => {
      const file = newDataFile();
      const database = await openRawDatabase(file);
      database.exec(
        "CREATE TABLE schema_migrations (version INTEGER NOT NULL PRIMARY KEY, applied_at INTEGER NOT NULL)",
      );
      database.exec("CREATE TABLE survey_requests (project_id INTEGER NOT NULL, id INTEGER NOT NULL)");
      database.exec(`INSERT INTO schema_migrations VALUES (${version}, 0)`);
      const refusal = {
        name: "StoreFileError",
        trouble: "outdated",
        message: expect.stringContaining("`service backup` of that version"),
      };
      await expect(migrate(database, START)).rejects.toMatchObject(refusal);
      const tables = database.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1");
      expect(tables.map(({ name }) => name)).toEqual(["schema_migrations", "survey_requests"]);
      database.close();
      await expect(openFixture({ file })).rejects.toMatchObject(refusal);
      await expect(inspectCopy(file)).rejects.toMatchObject(refusal);
    },
  );
});

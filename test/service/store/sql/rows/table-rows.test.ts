import { expect, test } from "vitest";
import { copyRows } from "../../../../../src/service/domain/moving/moving.ts";
import type { Store, TableRow, TableRows, Transaction } from "../../../../../src/service/domain/ports.ts";
import { TABLE_KEYS } from "../../../../../src/service/domain/moving/table-rows.ts";
import { migrate } from "../../../../../src/service/store/sqlite/engine/migrate.ts";
import { IN_MEMORY } from "../../../../../src/service/store/sqlite/engine/engine.ts";
import { openSqliteStore } from "../../../../../src/service/store/sqlite/open-sqlite-store.ts";
import { systemClock } from "../../../../../src/runtime/clock.ts";
import { openRawDatabase } from "../../engines.ts";

const clock = { ...systemClock, now: () => 0 };
const openEmpty = (): Promise<Store> => openSqliteStore({ file: IN_MEMORY, clock });
const TABLES = Object.keys(TABLE_KEYS);
const quietly = async (): Promise<void> => undefined;

async function readSchema() {
  const database = await openRawDatabase();
  await migrate(database, 0);
  const names = database.all("SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT GLOB 'sqlite_*'");
  const about = names.map(({ name }) => {
    const columns = database.all(`PRAGMA table_info(${String(name)})`);
    const key = columns.filter(({ pk }) => pk !== 0).toSorted((one, other) => Number(one.pk) - Number(other.pk));
    const refersTo = database.all(`PRAGMA foreign_key_list(${String(name)})`).map(({ table }) => String(table));
    return { name: String(name), columns, key: key.map((column) => String(column.name)), refersTo };
  });
  database.close();
  return about;
}

test("when the schema has a table, then a move knows it, by its key, and after the other tables that it refers to", async () => {
  const schema = await readSchema();
  const own = new Set(["schema_versions", "store_marks", "processes"]);
  const keys = Object.fromEntries(schema.filter(({ name }) => !own.has(name)).map(({ name, key }) => [name, key]));
  expect({ ...TABLE_KEYS }).toEqual(keys);
  const early = schema.flatMap(({ name, refersTo }) =>
    refersTo.filter((other) => TABLES.indexOf(other) > TABLES.indexOf(name)).map((other) => `${name} before ${other}`),
  );
  expect(early).toEqual([]);
});

/** Adds a row to every table with all numbers 1, so that the rows refer to each other. */
async function fillEveryTable(store: Store): Promise<void> {
  const schema = await readSchema();
  await store.write(
    async ({ tables }) => {
      for (const table of TABLES) {
        const columns = schema.find(({ name }) => name === table)?.columns ?? [];
        const row = columns.map(({ name, type }) => [String(name), type === "INTEGER" ? 1 : `'"ü😀\\${String(name)}`]);
        await tables.clear(table);
        await tables.insert(table, [Object.fromEntries(row) as TableRow]);
      }
    },
    { project: "all" },
  );
}

async function dump(store: Store): Promise<unknown> {
  return store.read(async ({ tables }) => {
    const pages = await Promise.all(TABLES.map((table) => tables.page(table, null, 10_000)));
    return Object.fromEntries(TABLES.map((table, index) => [table, pages[index]]));
  });
}

test("when every table has rows, then the copy has the same, and each table's sum is told", async () => {
  const [one, other] = [await openEmpty(), await openEmpty()];
  await fillEveryTable(one);
  const pages: number[] = [];
  const sums = await one.read((from) =>
    other.write((to) => copyRows(from, to, async (rows) => void pages.push(rows)), { project: "all" }),
  );
  expect(await dump(other)).toEqual(await dump(one));
  expect(sums.map(({ table, rows, least_id: least }) => [table, rows, least])).toEqual(
    TABLES.map((table) => [
      table,
      1,
      (TABLE_KEYS[table] ?? []).includes("id") && !["delivery_reports", "questions"].includes(table) ? 1 : null,
    ]),
  );
  expect(sums.filter(({ digest }) => !/^[0-9a-f]{64}$/.test(digest))).toEqual([]);
  expect(pages.at(-1)).toBe(TABLES.length);
});

test("when a table has more rows than a page, then each comes once", async () => {
  const [one, other] = [await openEmpty(), await openEmpty()];
  await one.write(
    async ({ tables }) => {
      const rows = Array.from({ length: 1201 }, (_, n) => ({ source: `s${n % 3}`, id: `i${n}`, at: n }));
      await tables.insert("delivery_reports", rows);
    },
    { project: "all" },
  );
  const sums = await one.read((from) => other.write((to) => copyRows(from, to, quietly), { project: "all" }));
  expect(sums.find(({ table }) => table === "delivery_reports")?.rows).toBe(1201);
  expect(await dump(other)).toEqual(await dump(one));
});

test.each<[string, (page: readonly TableRow[]) => readonly TableRow[]]>([
  ["loses a row", (page) => page.slice(1)],
  ["changes a value", (page) => page.map((row) => ({ ...row, at: 7 }))],
])("when the target %s, then the copy fails and nothing is stored", async (_, spoil) => {
  const [one, other] = [await openEmpty(), await openEmpty()];
  await fillEveryTable(one);
  const before = await dump(other);
  const spoiled = (tx: Transaction): Transaction => {
    const original = tx.tables.insert.bind(tx.tables);
    const insert: TableRows["insert"] = async (table, page) => {
      const rows = table === "delivery_reports" ? spoil(page) : page;
      if (rows.length > 0) await original(table, rows);
    };
    Object.assign(tx.tables, { insert });
    return tx;
  };
  const copying = one.read((from) => other.write((to) => copyRows(from, spoiled(to), quietly), { project: "all" }));
  await expect(copying).rejects.toThrow(/^table delivery_reports has 1 rows, and the copy differs/);
  expect(await dump(other)).toEqual(before);
});

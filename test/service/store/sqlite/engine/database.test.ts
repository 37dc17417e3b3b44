import { expect, test } from "vitest";
import { createDatabase } from "../../../../../src/service/store/sqlite/engine/database.ts";
import { IN_MEMORY, openEngine } from "../../../../../src/service/store/sqlite/engine/engine.ts";

test("when a limit is a parameter, then the text is one that SQLite compiles once", async () => {
  const engine = await openEngine(IN_MEMORY);
  const texts: string[] = [];
  const prepare: typeof engine.prepare = (sql) => {
    texts.push(sql);
    return engine.prepare(sql);
  };
  const database = createDatabase({ ...engine, prepare });
  const numbers = "WITH numbers(n) AS (VALUES (1), (2), (3)) SELECT n FROM numbers ORDER BY n LIMIT ? OFFSET ?";
  expect([1, 2].map((limit) => database.all(numbers, [limit, 1]).map(({ n }) => n))).toEqual([[2], [2, 3]]);
  expect(texts).toEqual([numbers.replace("LIMIT ?", "LIMIT CAST(? AS INTEGER)")]);
  database.close();
});

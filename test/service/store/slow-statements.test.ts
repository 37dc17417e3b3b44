import { expect, it } from "vitest";
import { createDatabase } from "../../../src/service/store/sqlite/engine/database.ts";
import { IN_MEMORY, openEngine } from "../../../src/service/store/sqlite/engine/engine.ts";
import { statementName } from "../../../src/service/store/slow-statements.ts";

it("when a statement takes more than a second, then its name is told, and none of its values", async () => {
  const time = { ms: 0, each: 1000 };
  const told: [string, number][] = [];
  const database = createDatabase(await openEngine(IN_MEMORY), {
    clock: { monotonic: () => (time.ms += time.each) },
    onSlow: (name, seconds) => void told.push([name, seconds]),
  });
  database.all("SELECT ? AS secret FROM sqlite_master", ["ada@example.com"]);
  time.each = 1001;
  database.all("SELECT ? AS secret FROM sqlite_master", ["ada@example.com"]);
  database.close();
  expect(told).toEqual([[expect.stringMatching(/^select sqlite_master [\da-f]{8}$/), 1.001]]);
});

it.each([
  ["SELECT 1", "SELECT 1 FROM people"],
  ["UPDATE people SET name = ?", "UPDATE people SET email = ?"],
])("when %j and %j are named, then the names differ, and white space does not count", (one, other) => {
  expect(statementName(one)).not.toBe(statementName(other));
  expect(statementName(`\n  ${one.replace(" ", "\n    ")} `)).toBe(statementName(one));
});

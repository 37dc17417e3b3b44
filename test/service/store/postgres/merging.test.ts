/** Statements of one text that are sent as one. */
import { describe, expect, test } from "vitest";
import { mergeInserts, mergeSelects, mergeUpdates } from "../../../../src/service/store/postgres/merging.ts";
import { toText } from "../../../../src/service/store/postgres/statement-piece.ts";

describe("when several rows are stored", () => {
  test("then they go in few statements of sizes that come again", () => {
    const rows = Array.from({ length: 71 }, (_, at) => [at]);
    const merged = mergeInserts("INSERT INTO t (a) VALUES (?)", rows) ?? [];
    expect(merged.map(({ values }) => values.length)).toEqual([64, 4, 2, 1]);
    expect(merged[2]?.sql).toBe("INSERT INTO t (a) VALUES (?), (?)");
    expect(merged.flatMap(({ values }) => values)).toEqual(rows.flat());
  });

  test.each([
    "INSERT INTO t (a) SELECT ?",
    "INSERT INTO t (a) VALUES (?) ON CONFLICT DO NOTHING",
    "DELETE FROM t WHERE a = ?",
  ])("then %s is left as it is", (sql) => expect(mergeInserts(sql, [[1], [2]])).toBeNull());
});

describe("when several look up one row each", () => {
  test("then it is asked once, with a column for each parameter", () => {
    const { sql, values } = mergeSelects("SELECT b FROM t WHERE a = ? AND c = ?", [
      [1, "x"],
      [2, null],
    ])!;
    expect(sql).toContain("unnest(CAST(? AS BIGINT[]), CAST(? AS TEXT[]))");
    expect(sql).toContain("(SELECT b FROM t WHERE a = k.k1 AND c = k.k2 OFFSET 0)");
    expect(values).toEqual([
      [1, 2],
      ["x", null],
    ]);
  });

  test.each([
    "SELECT b FROM t WHERE a = ? FOR UPDATE",
    "SELECT b FROM t WHERE a = ? LIMIT 1 OFFSET 2",
    "WITH t AS (SELECT ?) TABLE t",
  ])("then %s is left as it is", (sql) => expect(mergeSelects(sql, [[1], [2]])).toBeNull());

  test("then a parameter that nobody gives leaves it as it is", () => {
    expect(mergeSelects("SELECT b FROM t WHERE a = ?", [[null], [null]])).toBeNull();
  });
});

test("when several change one row each, then it is one statement", () => {
  const { sql, values } = mergeUpdates("UPDATE t SET a = ? WHERE b = ?", [
    [1, "x"],
    [2, "y"],
  ])!;
  expect(sql).toBe(
    "UPDATE t SET a = k.k1 FROM unnest(CAST(? AS BIGINT[]), CAST(? AS TEXT[])) AS k(k1, k2) WHERE b = k.k2",
  );
  expect(values).toEqual([
    [1, 2],
    ["x", "y"],
  ]);
});

test.each([
  [null, null],
  [7, "7"],
  ["a,b", "a,b"],
  [[1, null, 2], "{1,NULL,2}"],
  [["a,b", String.raw`"\{`, null, "NULL"], String.raw`{"a,b","\"\\{",NULL,"NULL"}`],
])("when %j is a parameter, then it is sent as %j", (value, text) => expect(toText(value)).toBe(text));

import { expect, test } from "vitest";
import { pathColumn, type Resource } from "../../../src/cli/render/columns.ts";
import { writeList } from "../../../src/cli/render/list-output.ts";
import { writeRecord } from "../../../src/cli/render/record-output.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

const RESOURCE: Resource = {
  noun: "responses",
  columns: [pathColumn("id"), pathColumn("score", "score"), pathColumn("comment"), pathColumn("created_at")],
  table: ["score", "comment", "created_at"],
};
const COMMENT = `1 | 2 *bold* <b>x</b> [a](b) \\ ${"very long ".repeat(20)}end`;
const ROW = { id: "7", score: 9, comment: `${COMMENT}\nsecond line`, created_at: 0 };
const ESCAPED = `1 \\| 2 \\*bold\\* \\<b>x\\</b> \\[a\\](b) \\\\ ${"very long ".repeat(20)}end second line`;

test("a Markdown table has the table's columns, in full, and escapes markup", async () => {
  const { deps, out } = fakeDeps({ width: 80, options: { output: "markdown" } });
  await writeList(deps, { resource: RESOURCE }, [ROW, { ...ROW, score: null, comment: null }]);
  expect(out()).toBe(
    `| score | comment | created_at |\n| --: | --- | --- |\n` +
      `| 9 | ${ESCAPED} | 1970-01-01 00:00:00 |\n|  |  | 1970-01-01 00:00:00 |\n`,
  );
});

test("a Markdown table without rows has a header", async () => {
  const { deps, out } = fakeDeps({ options: { output: "markdown", columns: ["id"] } });
  await writeList(deps, { resource: RESOURCE }, []);
  expect(out()).toBe("| id |\n| --- |\n");
});

test("a single item in Markdown has a row per field", async () => {
  const { deps, out } = fakeDeps({ options: { output: "markdown" } });
  await writeRecord(deps, RESOURCE, { json: ROW, text: JSON.stringify(ROW) });
  expect(out()).toBe(
    `| field | value |\n| --- | --- |\n| id | 7 |\n| score | 9 |\n| comment | ${ESCAPED} |\n` +
      `| created_at | 1970-01-01 00:00:00 |\n`,
  );
});

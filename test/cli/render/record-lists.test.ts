import { expect, test } from "vitest";
import { pathColumn, type Resource } from "../../../src/cli/render/columns.ts";
import { writeRecord } from "../../../src/cli/render/record-output.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";

const RESOURCE: Resource = {
  noun: "events",
  columns: [pathColumn("id"), pathColumn("tags"), pathColumn("log")],
  table: ["id", "tags", "log"],
  dropFirst: [],
  fields: [],
};
const JSON_VALUE = {
  id: "7",
  tags: ["a", "b"],
  log: [
    { n: 1, attempted_at: 0, status: 503, text: null },
    { n: 2, attempted_at: 60, status: 200, text: "ok" },
  ],
};
const VALUE = { json: JSON_VALUE, text: JSON.stringify(JSON_VALUE) };

test.each([{ width: 80 }, { options: { output: "record" as const } }])(
  "when a value is a list of objects, then each is a line without what it has no value for (%j)",
  async (options) => {
    const { deps, out } = fakeDeps(options);
    await writeRecord(deps, RESOURCE, VALUE);
    expect(out()).toBe(
      "id    7\n" +
        "tags  a, b\n" +
        "log   n=1, attempted_at=1970-01-01 00:00:00, status=503\n" +
        "      n=2, attempted_at=1970-01-01 00:01:00, status=200, text=ok\n",
    );
  },
);

test("when a script reads it, then the list is JSON", async () => {
  const { deps, out } = fakeDeps({});
  await writeRecord(deps, RESOURCE, VALUE);
  expect(out()).toBe(`id\t7\ntags\t["a","b"]\nlog\t${JSON.stringify(JSON_VALUE.log)}\n`);
});

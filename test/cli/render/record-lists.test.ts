import { expect, test } from "vitest";
import { pathColumn, type Resource } from "../../../src/cli/render/columns.ts";
import { openListOutput } from "../../../src/cli/render/list-output.ts";
import { writeRecord } from "../../../src/cli/render/record-output.ts";
import { RESPONSES } from "../../../src/cli/render/resources.ts";
import { fakeDeps } from "../../helpers/fake-deps.ts";
import { SAMPLE_RESPONSES } from "../../helpers/sample-rows.ts";

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

const ANSWERED = {
  ...SAMPLE_RESPONSES[0],
  additional_answers: [
    {
      id: "1",
      value: { free_response: null, scale: null, select_one: { id: "c1", text: "Support" }, select_many: null },
      question: { id: "q1", type: "select_one", text: "What?" },
    },
  ],
};

test("when answers have columns of their own, then a record says them once", async () => {
  const { deps, out } = fakeDeps({ width: 80 });
  await writeRecord(deps, RESPONSES, { json: ANSWERED, text: JSON.stringify(ANSWERED) });
  const lines = out().split("\n");
  expect(lines.filter((line) => line.includes("answers"))).toEqual(["answers.q1         Support"]);
});

test("when a table has objects within objects, then each is told by what it has", async () => {
  const { deps, out } = fakeDeps({ width: 120, options: { columns: ["id", "additional_answers"] } });
  const output = await openListOutput(deps, { resource: RESPONSES });
  await output.write({ rows: [{ ...ANSWERED, id: "7" }], text: "" });
  await output.end();
  expect(out()).toBe("ID  ADDITIONAL ANSWERS\n7   id=1 value=select_one=Support question=What?\n");
});

test("when a text has parts, then a record tells them too", async () => {
  const { deps, out } = fakeDeps({ width: 80 });
  const json = { texts: { de: { text: "Was?", choices: ["Netz", "Laden"] } } };
  await writeRecord(deps, { ...RESOURCE, columns: [pathColumn("texts")] }, { json, text: JSON.stringify(json) });
  expect(out()).toBe("texts  de=text=Was? choices=Netz; Laden\n");
});

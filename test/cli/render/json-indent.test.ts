import * as fc from "fast-check";
import { expect, it } from "vitest";
import { openListOutput } from "../../../src/cli/render/list-output.ts";
import { indentJson } from "../../../src/cli/render/json-indent.ts";
import { writeRecord } from "../../../src/cli/render/record-output.ts";
import { PEOPLE } from "../../../src/cli/render/resources.ts";
import { fakeDeps, type FakeOptions } from "../../helpers/fake-deps.ts";
import { size } from "../../helpers/long.ts";

it("when any JSON is indented, then it is as JSON.stringify would indent it, however it came", () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(0, 1, "\t"), (text, space) => {
      const value: unknown = JSON.parse(text);
      expect(indentJson(JSON.stringify(value, null, space))).toBe(JSON.stringify(value, null, 2));
    }),
  );
});

it("when JSON holds what parsing would lose, then it stays", () => {
  expect(indentJson('{"id":12345678901234567890,"a":1.0,"a":"\\u0041 \\" , {","b":[ ] }')).toBe(
    '{\n  "id": 12345678901234567890,\n  "a": 1.0,\n  "a": "\\u0041 \\" , {",\n  "b": []\n}',
  );
});

/** More than the stack can hold. */
const LEVELS = size(30_000, 100_000);

it("when JSON is nested thousands of levels deep, then it is shown all the same", () => {
  const deep = "[".repeat(LEVELS) + "]".repeat(LEVELS);
  expect(indentJson(deep).replaceAll(/\s/g, "")).toBe(deep);
});

async function show(options: FakeOptions): Promise<{ list: string; record: string; row: string }> {
  const texts = ['{"id":"1","created_at":1.0}', '{"id":"2","created_at":0}'];
  const rows = [
    { id: "1", created_at: 1 },
    { id: "2", created_at: 0 },
  ];
  const page = { rows, text: `[${texts.join(",")}]` };
  const written = [];
  for (const output of ["json", "ndjson"] as const) {
    const { deps, out } = fakeDeps({ ...options, options: { ...options.options, output } });
    const list = await openListOutput(deps, { resource: PEOPLE });
    await list.write(page);
    await list.end();
    written.push(out());
  }
  const { deps, out } = fakeDeps({ ...options, options: { ...options.options, output: "json" } });
  await writeRecord(deps, PEOPLE, { json: rows[0] ?? {}, text: texts[0] ?? "" });
  return { list: written[0] ?? "", row: written[1] ?? "", record: out() };
}

it("when stdout is a terminal, then JSON is indented, and ndjson stays a row a line", async () => {
  expect(await show({ width: 80 })).toEqual({
    list: '[\n  {\n    "id": "1",\n    "created_at": 1.0\n  },\n  {\n    "id": "2",\n    "created_at": 0\n  }\n]\n',
    row: '{"id":"1","created_at":1.0}\n{"id":"2","created_at":0}\n',
    record: '{\n  "id": "1",\n  "created_at": 1.0\n}\n',
  });
});

it("when columns and times are chosen on a terminal, then what is left is indented too", async () => {
  const { list, record } = await show({ width: 80, options: { columns: ["created_at"], time: "iso" } });
  expect([list, record]).toEqual([
    '[\n  {\n    "created_at": "1970-01-01T00:00:01Z"\n  },\n  {\n    "created_at": "1970-01-01T00:00:00Z"\n  }\n]\n',
    '{\n  "created_at": "1970-01-01T00:00:01Z"\n}\n',
  ]);
});

it("when stdout is a pipe, then JSON is as it came", async () => {
  expect(await show({ width: null })).toEqual({
    list: '[\n{"id":"1","created_at":1.0},\n{"id":"2","created_at":0}\n]\n',
    row: '{"id":"1","created_at":1.0}\n{"id":"2","created_at":0}\n',
    record: '{"id":"1","created_at":1.0}\n',
  });
});

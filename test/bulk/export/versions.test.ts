import { expect, it } from "vitest";
import { createVersionFilter, createVersionLog, NO_VERSIONS } from "../../../src/bulk/export/versions.ts";

function pageAt(at: number, first: number): { rows: { id: number; at: number }[]; text: string } {
  return { rows: Array.from({ length: 100 }, (_, index) => ({ id: first + index, at })), text: "" };
}

it("remembers what changed lately in 16 bytes a row, and nothing older", () => {
  const keys = {
    id: (row: object) => String((row as { id: number }).id),
    at: (row: object) => (row as { at: number }).at,
    content: () => "x".repeat(1000),
  };
  const log = createVersionLog(keys, { until: null, versions: NO_VERSIONS }, 300, () => Infinity);
  for (let page = 0; page < 200; page += 1) log.note(log.find(pageAt(1000 + page, page * 100)));
  for (let page = 0; page < 300; page += 1) log.note(log.find(pageAt(9000, 100_000 + page * 100)));
  const { until, versions } = log.tail();
  expect([until, versions.ats.length, versions.marks.length]).toEqual([9000, 30_000, 30_000]);
  const room = versions.ats.buffer.byteLength + versions.marks.buffer.byteLength;
  expect(room).toBeLessThan(16 * 30_000 * 1.6);
  const isNew = createVersionFilter(keys, versions);
  expect(
    [
      { id: 100_000, at: 9000 },
      { id: 129_999, at: 9000 },
      { id: 130_000, at: 9000 },
    ].map(isNew),
  ).toEqual([false, false, true]);
});

import { describe, expect, it } from "vitest";
import { NO_VERSIONS, createVersionFilter, createVersionLog, hashVersion } from "../../../src/bulk/export/versions.ts";
import { formatState, parseState, StateRefusedError, type ExportState } from "../../../src/bulk/export/state.ts";

const identity = {
  command: "people export",
  base_url: "https://example.com",
  key: "abc",
  filter: "",
  format: "csv",
  columns: "id",
};
const STATE: ExportState = {
  identity,
  until: 1_760_000_000,
  file_bytes: 12,
  file_sha256: "00",
  versions: { ats: Float64Array.of(1_760_000_000), marks: BigUint64Array.of(2n ** 63n + 1n) },
  pending: null,
};
const FIRST: ExportState = {
  identity,
  until: null,
  file_bytes: null,
  file_sha256: null,
  versions: NO_VERSIONS,
  pending: null,
};
const ANNOUNCED: ExportState = {
  ...FIRST,
  pending: { until: 5, file_bytes: 99, file_sha256: "ff", versions: STATE.versions },
};
const spoiled = (more: object): string => JSON.stringify({ ...(JSON.parse(formatState(STATE)) as object), ...more });

it.each([[STATE], [FIRST], [ANNOUNCED]])("reads what it wrote", (state) => {
  expect(parseState(formatState(state), "s")).toEqual(state);
});

it("reads a state without the file's digest", () => {
  expect(parseState(spoiled({ file_sha256: undefined }), "s").file_sha256).toBe(null);
});

it("reads a state of the first format", () => {
  const first = spoiled({ surveyctl_export_state: 1, versions: [["7", 1_760_000_000, "mark"]], pending: undefined });
  expect(parseState(first, "s").versions).toEqual({
    ats: Float64Array.of(1_760_000_000),
    marks: BigUint64Array.of(hashVersion("7", 1_760_000_000, "mark")),
  });
});

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

describe("a damaged state", () => {
  it.each([
    { identity: undefined },
    { identity: [] },
    { until: undefined },
    { until: "1760000000" },
    { until: 1e300 },
    { file_bytes: "12" },
    { file_bytes: -3 },
    { file_bytes: 1.5 },
    { file_sha256: 5 },
    { versions: null },
    { versions: {} },
    { versions: [1] },
    { versions: [["1", null, "mark"]] },
    { versions: { ats: "AAAA", marks: "" } },
    { pending: 5 },
    { pending: { until: "x" } },
  ])("is refused: %o", (more) => {
    expect(() => parseState(spoiled(more), "s")).toThrow(new StateRefusedError("s is damaged"));
  });

  it.each(["", "{", "null", "[]", "id,score\n", '{"surveyctl_export_state":3}', formatState(STATE).slice(0, 80)])(
    "is no state: %s",
    (text) => {
      expect(() => parseState(text, "s")).toThrow(new StateRefusedError("s is not the state of an export"));
    },
  );
});

import { describe, expect, it } from "vitest";
import { hashVersion, NO_VERSIONS } from "../../../src/bulk/export/versions.ts";
import { type ExportState, formatState, parseState } from "../../../src/cli/export/state.ts";

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
    expect(() => parseState(spoiled(more), "s")).toThrow("--state: s is damaged");
  });

  it.each(["", "{", "null", "[]", "id,score\n", '{"surveyctl_export_state":3}', formatState(STATE).slice(0, 80)])(
    "is no state: %s",
    (text) => {
      expect(() => parseState(text, "s")).toThrow("--state: s is not the state of an export");
    },
  );
});

import { describe, expect, it } from "vitest";
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
  versions: [["1", 1_760_000_000, "mark"]],
};
const FIRST: ExportState = { identity, until: null, file_bytes: null, file_sha256: null, versions: [] };
const spoiled = (more: object): string => JSON.stringify({ ...(JSON.parse(formatState(STATE)) as object), ...more });

it.each([[STATE], [FIRST]])("reads what it wrote", (state) => {
  expect(parseState(formatState(state), "s")).toMatchObject(state);
});

it("reads a state without the file's digest", () => {
  expect(parseState(spoiled({ file_sha256: undefined }), "s").file_sha256).toBe(null);
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
  ])("is refused: %o", (more) => {
    expect(() => parseState(spoiled(more), "s")).toThrow(new StateRefusedError("s is damaged"));
  });

  it.each(["", "{", "null", "[]", "id,score\n", '{"surveyctl_export_state":2}', formatState(STATE).slice(0, 80)])(
    "is no state: %s",
    (text) => {
      expect(() => parseState(text, "s")).toThrow(new StateRefusedError("s is not the state of an export"));
    },
  );
});

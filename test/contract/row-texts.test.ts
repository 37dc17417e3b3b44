import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitRowTexts } from "../../src/contract/row-texts.ts";

describe("the texts of rows", () => {
  it.each([
    ["[]", []],
    [" [\n] ", []],
    ['[{"a":1.0}, {"a":12345678901234567890}]', ['{"a":1.0}', '{"a":12345678901234567890}']],
    ['[{"a":"],[}\\"{"},{"b":{"c":[1,[2]]}}]', ['{"a":"],[}\\"{"}', '{"b":{"c":[1,[2]]}}']],
    ['[{"a":"\\\\"},{"a":"\\\\\\""}]', ['{"a":"\\\\"}', '{"a":"\\\\\\""}']],
    ['[\n  {\n    "a": 1\n  },\n  {}\n]\n', ['{\n    "a": 1\n  }', "{}"]],
    ['[1,"a,b",null]', ["1", '"a,b"', "null"]],
  ])("of %j are found", (text, expected) => {
    expect(splitRowTexts(text)).toEqual(expected);
  });

  it("when any rows are joined, then they are found again", () => {
    const row = fc.dictionary(fc.string({ unit: "binary" }), fc.jsonValue());
    fc.assert(
      fc.property(fc.array(row), fc.constantFrom(undefined, 2), (rows, indent) => {
        const found = splitRowTexts(JSON.stringify(rows, null, indent)).map((text): unknown => JSON.parse(text));
        expect(found).toEqual(JSON.parse(JSON.stringify(rows)));
      }),
    );
  });
});

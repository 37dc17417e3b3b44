import { array, assert, constantFrom, dictionary, jsonValue, property, string } from "fast-check";
import { describe, expect, it } from "vitest";
import { splitRowTexts } from "../../src/contract/row-texts.ts";
import { size } from "../helpers/long.ts";

describe("splitRowTexts", () => {
  it.each<[string, string[]]>([
    ["[]", []],
    [" [ ] ", []],
    ['[{"a":1}]', ['{"a":1}']],
    ['[ {"a": 1.0} ,\n{"b":[1,{"c":2}]} ]', ['{"a": 1.0}', '{"b":[1,{"c":2}]}']],
    [String.raw`[{"a":"]},{\""},{"b\\":"\\"}]`, [String.raw`{"a":"]},{\""}`, String.raw`{"b\\":"\\"}`]],
    ['[{"id":12345678901234567890,"e":1e400}]', ['{"id":12345678901234567890,"e":1e400}']],
    ["[1,null,[2,3]]", ["1", "null", "[2,3]"]],
  ])("when the text is %s", (text, rows) => {
    expect(splitRowTexts(text)).toEqual(rows);
  });

  it("when any list is written in any way, then each row is its own text", () => {
    const objects = array(dictionary(string({ unit: "grapheme" }), jsonValue()), { maxLength: 8 });
    assert(
      property(objects, constantFrom(0, 1, 2, "\t"), (list, indent) => {
        const rows = splitRowTexts(JSON.stringify(list, null, indent));
        expect(rows.map((row) => JSON.parse(row) as unknown)).toEqual(JSON.parse(JSON.stringify(list)));
        const wanted = list.map((item) => JSON.stringify(item));
        expect(splitRowTexts(JSON.stringify(list))).toEqual(wanted);
      }),
      { numRuns: size(100, 500) },
    );
  });
});

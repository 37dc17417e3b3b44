import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatQuery, parseBracketPairs, toBracketPairs } from "../../src/contract/brackets.ts";

const name = fc.stringMatching(/^[a-z][a-z_]{0,12}$/);
/** Property names are arbitrary but not empty, because `[]` means an array. */
const key = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) => !/[[\]]/.test(text));
const text = fc.string({ unit: "grapheme" });
const value = fc.oneof(text, fc.array(text, { minLength: 1 }), fc.dictionary(key, text, { minKeys: 1 }));

const readQuery = (query: string): [string, string][] => [...new URLSearchParams(query)];
const plain = (object: unknown): unknown => JSON.parse(JSON.stringify(object));

describe("bracketed parameters", () => {
  it("when any parameters are written and read back, then they are the same", () => {
    fc.assert(
      fc.property(fc.dictionary(name, value), (parameters) => {
        expect(plain(parseBracketPairs(toBracketPairs(parameters)))).toEqual(plain(parameters));
      }),
    );
  });

  it("when they travel as a query, then they are the same, whatever characters they hold", () => {
    fc.assert(
      fc.property(fc.dictionary(name, value), (parameters) => {
        expect(plain(parseBracketPairs(readQuery(formatQuery(parameters))))).toEqual(plain(parameters));
      }),
    );
  });

  it("when any pairs arrive, then reading them gives an object and never throws", () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.string(), fc.string())), (pairs) => {
        expect(typeof parseBracketPairs(pairs)).toBe("object");
      }),
    );
  });

  it.each<[string, [string, string][], unknown]>([
    ["a plain name", [["email", "a@x.co"]], { email: "a@x.co" }],
    [
      "a plain name twice",
      [
        ["a", "1"],
        ["a", "2"],
      ],
      { a: "2" },
    ],
    [
      "an array",
      [
        ["expand[]", "person"],
        ["expand[]", "notes"],
      ],
      { expand: ["person", "notes"] },
    ],
    [
      "a map",
      [
        ["properties[plan]", "pro"],
        ["properties[region]", "EMEA"],
      ],
      { properties: { plan: "pro", region: "EMEA" } },
    ],
    ["a key with brackets of its own", [["properties[a[b]c]", "1"]], { properties: { "a[b]c": "1" } }],
    ["a key with brackets at its end", [["properties[a[b]]", "1"]], { properties: { "a[b]": "1" } }],
    [
      "a map inside a map",
      [
        ["properties[plan][name]", "pro"],
        ["properties[plan][seats][max]", "5"],
        ["properties[region]", "EMEA"],
      ],
      { properties: { plan: { name: "pro", seats: { max: "5" } }, region: "EMEA" } },
    ],
    [
      "an array inside a map",
      [
        ["properties[teams][]", "a"],
        ["properties[teams][]", "b"],
        ["properties[roles][0]", "c"],
      ],
      { properties: { teams: ["a", "b"], roles: { 0: "c" } } },
    ],
    [
      "a map where a text was",
      [
        ["properties[plan]", "pro"],
        ["properties[plan][name]", "pro"],
      ],
      { properties: { plan: { name: "pro" } } },
    ],
    ["an empty value", [["name", ""]], { name: "" }],
  ])("when it is %s, then it is read as such", (_, pairs, expected) => {
    expect(plain(parseBracketPairs(pairs))).toEqual(expected);
  });

  it("when a key is named like an object's own machinery, then it is only a key", () => {
    const { properties } = parseBracketPairs([
      ["properties[__proto__]", "1"],
      ["properties[constructor]", "2"],
      ["properties[a][__proto__][polluted]", "3"],
      ["properties[toString][polluted]", "4"],
    ]);
    expect(JSON.stringify(properties)).toBe(
      '{"__proto__":"1","constructor":"2","a":{"__proto__":{"polluted":"3"}},"toString":{"polluted":"4"}}',
    );
    expect(({} as Record<string, unknown>).polluted).toBeUndefined();
    expect(({} as Record<string, unknown>)["1"]).toBeUndefined();
  });

  it("when values are numbers, booleans, null or absent, then they are text or left out", () => {
    expect(toBracketPairs({ send: false, delay: 60, name: null, email: undefined, map: { n: 1, b: true } })).toEqual([
      ["send", "false"],
      ["delay", "60"],
      ["map[n]", "1"],
      ["map[b]", "true"],
    ]);
  });

  it("when a plus stands in a value, then it is escaped", () => {
    expect(formatQuery({ phone_number: "+14155550000", "a b": "c&d=e" })).toBe(
      "phone_number=%2B14155550000&a%20b=c%26d%3De",
    );
  });
});

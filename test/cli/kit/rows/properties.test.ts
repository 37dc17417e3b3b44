import { describe, expect, it, test } from "vitest";
import { parseCondition, propertyTests } from "../../../../src/cli/kit/rows/properties.ts";

const matches = (conditions: readonly string[], properties: Record<string, unknown>): boolean => {
  const parsed = conditions.map((text) => parseCondition(text, "--property"));
  const row = JSON.parse(JSON.stringify({ properties })) as { properties: Record<string, string> };
  return propertyTests(parsed, "properties").every((holds) => holds(row));
};

describe("a condition", () => {
  it.each([
    ["plan=pro", ["plan", "pro"]],
    ["plan=a>=b", ["plan", "a>=b"]],
    ["plan=", ["plan", ""]],
    ["plan!=pro", ["plan", "pro", "!="]],
    ["purchases>=3", ["purchases", "3", ">="]],
    ["purchases <= -2.5", ["purchases", "-2.5", "<="]],
  ])("is read from %s", (text, condition) => {
    expect(parseCondition(text, "--property")).toEqual(condition);
  });

  it.each([
    ["plan", '--property: "plan" is not key=value'],
    ["=pro", '--property: "=pro" is not key=value'],
    ["plan>pro", "--property: \"plan>pro\" is not a comparison of numbers, as in 'plan>3'"],
    ["seats<03", "--property: \"seats<03\" is not a comparison of numbers, as in 'seats<3'"],
  ])("is not read from %s", (text, message) => {
    expect(() => parseCondition(text, "--property")).toThrow(message);
  });
});

test.each<[string[], Record<string, unknown>, boolean]>([
  [["purchases>=3"], { purchases: "12" }, true],
  [["purchases>=3"], { purchases: 3 }, true],
  [["purchases>=3"], { purchases: "3.0" }, true],
  [["purchases>=3"], { purchases: "2.9" }, false],
  [["purchases>=3"], { purchases: "many" }, false],
  [["purchases>=3"], {}, false],
  [["purchases<3"], { purchases: "03" }, false],
  [["purchases<3"], { purchases: "" }, false],
  [["purchases=3"], { purchases: "3.0" }, true],
  [["zip=01234"], { zip: "1234" }, false],
  [["order=12345678901234567891"], { order: "12345678901234567890" }, false],
  [["plan!=pro"], { plan: "free" }, true],
  [["plan!=pro"], {}, true],
  [["plan!=pro"], { plan: "pro" }, false],
  [["plan="], {}, true],
  [["plan="], { plan: "pro" }, false],
  [["plan=pro", "plan=team"], { plan: "team" }, true],
  [["plan!=pro", "plan!=team"], { plan: "team" }, false],
  [["purchases>=3", "purchases<10"], { purchases: 12 }, false],
  [["purchases>=3", "purchases<10"], { purchases: 5 }, true],
  [["plan=pro", "seats>1"], { plan: "pro", seats: 1 }, false],
])("%j of %j: %s", (conditions, properties, expected) => {
  expect(matches(conditions, properties)).toBe(expected);
});

import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createIdentityTable, identityOf } from "../../../../src/bulk/import/check/identity-table.ts";

it("when identities come in any order, then it answers as a map would", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 }), (identities) => {
      const [table, map] = [createIdentityTable(), new Map<string, number>()];
      for (const [index, identity] of identities.entries()) {
        expect(table.seen(identity, index + 2)).toBe(map.get(identity) ?? null);
        if (!map.has(identity)) map.set(identity, index + 2);
      }
    }),
  );
});

it("when it grows, then nobody is forgotten", () => {
  const table = createIdentityTable();
  const lines = Array.from({ length: 5000 }, (_, index) => index + 2);
  expect(lines.map((line) => table.seen(`e${line}@example.com`, line))).toEqual(lines.map(() => null));
  expect(lines.map((line) => table.seen(`e${line}@example.com`, 9999))).toEqual(lines);
});

it.each([
  [{ email: "Ann@Example.com", phone_number: "+14155550000" }, { email: "ann@example.com" }, true],
  [{ phone_number: "+14155550000" }, { phone_number: "+14155550000" }, true],
  [{ email: "ann@example.com" }, { email: "bob@example.com" }, false],
])("when rows are %j and %j, then one person: %s", (one, other, same) => {
  expect(identityOf(one) === identityOf(other)).toBe(same);
});

it.each([
  ["addresses", (number: number) => `big${number}@x.co`],
  ["longer addresses", (number: number) => `user.${number}@example.com`],
  ["ids", (number: number) => `#${number}`],
])("when a million different %s come, then nobody is taken for somebody else", (_, identityAt) => {
  const table = createIdentityTable({ expected: 1_000_000 });
  const taken: number[] = [];
  for (let number = 1; number <= 1_000_000; number += 1)
    if (table.seen(identityAt(number), number) !== null) taken.push(number);
  expect(taken).toEqual([]);
});

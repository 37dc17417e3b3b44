import * as fc from "fast-check";
import { expect, it } from "vitest";
import { createIdentities, identityOf } from "../../../../src/bulk/import/check/identities.ts";

it.each(["first", "last"] as const)("when identities come in any order, then the %s line is remembered", (remember) => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 3 }), { maxLength: 200 }), (identities) => {
      const [people, map] = [createIdentities(remember), new Map<string, number>()];
      for (const [index, identity] of identities.entries()) {
        expect(people.seen(identity, index + 2)).toBe(map.get(identity) ?? null);
        if (remember === "last" || !map.has(identity)) map.set(identity, index + 2);
      }
    }),
  );
});

it.each([
  [{ email: "Ann@Example.com", phone_number: "+14155550000" }, { email: "ann@example.com" }, true],
  [{ phone_number: "+14155550000" }, { phone_number: "+14155550000" }, true],
  [{ email: "ann@example.com" }, { email: "bob@example.com" }, false],
  [{ email: "ann@bücher.de" }, { email: "Ann@xn--bcher-kva.de" }, true],
  [{ email: "ａnn@example.com" }, { email: "ann@example.com" }, true],
  [{ email: "zo\u0065\u0308@example.com" }, { email: "zo\u00eb@example.com" }, true],
  [{ email: "zoë@example.com" }, { email: "zoe@example.com" }, false],
])("when rows are %j and %j, then one person: %s", (one, other, same) => {
  expect(identityOf(one) === identityOf(other)).toBe(same);
});

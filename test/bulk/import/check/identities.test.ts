import * as fc from "fast-check";
import { expect, it } from "vitest";
import { answerKey, groupLines, keptLine, personKeys } from "../../../../src/bulk/import/check/identities.ts";
import { createLineNumbers } from "../../../../src/bulk/import/table/line-numbers.ts";

/** A naive implementation that returns all connected lines for each line. */
function components(rows: readonly (readonly string[])[]): number[][] {
  const groups: { lines: number[]; keys: Set<string> }[] = [];
  for (const [index, keys] of rows.entries()) {
    const joined = groups.filter((group) => keys.some((key) => group.keys.has(key)));
    for (const group of joined) groups.splice(groups.indexOf(group), 1);
    groups.push({
      lines: [...joined.flatMap(({ lines }) => lines), index + 2],
      keys: new Set([...keys, ...joined.flatMap((group) => [...group.keys])]),
    });
  }
  return groups.map(({ lines }) => lines);
}

it.each(["first", "last"] as const)("one line of each group is kept, the %s one", (keep) => {
  const key = fc.string({ minLength: 1, maxLength: 2 });
  fc.assert(
    fc.property(fc.array(fc.array(key, { minLength: 1, maxLength: 3 }), { maxLength: 60 }), (rows) => {
      const keptBy = createLineNumbers(Uint32Array);
      const groups = groupLines(keep, keptBy);
      const dropped = rows.flatMap((keys, index) => groups.join(index + 2, keys));
      for (const lines of components(rows)) {
        const kept = keep === "first" ? Math.min(...lines) : Math.max(...lines);
        expect(lines.map((line) => keptLine(keptBy, line))).toEqual(lines.map(() => kept));
        expect(dropped.filter((line) => lines.includes(line)).toSorted((a, b) => a - b)).toEqual(
          lines.filter((line) => line !== kept).toSorted((a, b) => a - b),
        );
      }
    }),
  );
});

it.each([
  [{ email: "Ann@Example.com", phone_number: "+14155550000" }, { email: "ann@example.com" }, true],
  [{ email: "ann@example.com", phone_number: "+14155550000" }, { phone_number: "+14155550000" }, true],
  [{ email: "ann@example.com", email_update: "ann@example.org" }, { email: "ann@example.org" }, true],
  [{ phone_number: "+14155550000" }, { phone_number: "+14155550000" }, true],
  [{ person_id: "7", email: "ann@example.com" }, { person_id: "7", email: "bob@example.com" }, false],
  [{ person_id: "7" }, { person_id: "7" }, true],
  [{ email: "ann@example.com" }, { email: "bob@example.com" }, false],
  [{ email: "ann@bücher.de" }, { email: "Ann@xn--bcher-kva.de" }, true],
  [{ email: "ａnn@example.com" }, { email: "ann@example.com" }, true],
  [{ email: "zo\u0065\u0308@example.com" }, { email: "zo\u00eb@example.com" }, true],
  [{ email: "zoë@example.com" }, { email: "zoe@example.com" }, false],
])("rows %j and %j are one person: %s", (one, other, same) => {
  expect(personKeys(one).some((key) => personKeys(other).includes(key))).toBe(same);
});

const ANSWER = { email: "ann@example.com", score: 9, comment: "two\nlines", created_at: 1_790_000_000 };

it.each([
  [{ email: "ANN@example.com" }, true],
  [{ comment: "two\r\nlines " }, true],
  [{ comment: "one line" }, false],
  [{ score: 8 }, false],
  [{ created_at: 1_790_000_001 }, false],
  [{ created_at: undefined }, false],
])("an answer with %j is the same: %s", (change, same) => {
  expect(answerKey({ ...ANSWER, ...change }) === answerKey(ANSWER)).toBe(same);
});

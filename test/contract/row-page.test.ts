import { expect, test } from "vitest";
import type { JsonObject } from "../../src/contract/json.ts";
import { withExactNumbers } from "../../src/cli/render/encoders.ts";
import { withAllDigits } from "../../src/contract/long-numbers.ts";
import { keepRows, type RowPage } from "../../src/contract/row-page.ts";

const TEXT = '[ {"id":"1","score":9.0} , {"id":"2","n":12345678901234567890},\n{"id":"3","score":0}]';
const PAGE: RowPage = { rows: JSON.parse(TEXT) as JsonObject[], text: TEXT };

test("some of a page's rows come with the text that they came in", () => {
  const kept = keepRows(PAGE, ({ id }) => id !== "1");
  expect({ rows: kept.rows, text: kept.text }).toEqual({
    rows: PAGE.rows.slice(1),
    text: '[{"id":"2","n":12345678901234567890},{"id":"3","score":0}]',
  });
  const last = keepRows(kept, (_, index) => index === 1);
  expect({ rows: last.rows, text: last.text }).toEqual({
    rows: [{ id: "3", score: 0 }],
    text: '[{"id":"3","score":0}]',
  });
});

test("all of a page's rows are the page, and none is an empty list", () => {
  expect(keepRows(PAGE, () => true)).toBe(PAGE);
  const none = keepRows(PAGE, () => false);
  expect({ rows: none.rows, text: none.text }).toEqual({ rows: [], text: "[]" });
});

const write = (rows: readonly JsonObject[]): string[] => rows.map((row) => JSON.stringify(row));

test.each<[string, (page: RowPage) => unknown, unknown]>([
  ["a table", withAllDigits, [{ id: "2", n: "12345678901234567890" }]],
  ["a file", (page) => withExactNumbers(page, write), ['{"id":"2","n":12345678901234567890}']],
])("for %s, the text of some rows is made only where their page holds a long number", (_, show, shown) => {
  const asked: string[] = [];
  const watched = (text: string): RowPage => {
    const page = keepRows({ rows: JSON.parse(text) as JsonObject[], text }, ({ id }) => id === "2");
    return {
      rows: page.rows,
      ...(page.source !== undefined && { source: page.source }),
      get text() {
        asked.push(text);
        return page.text;
      },
    };
  };
  show(watched('[{"id":"1"},{"id":"2"}]'));
  expect(asked).toEqual([]);
  expect(show(watched(TEXT))).toEqual(shown);
  expect(asked).toEqual([TEXT]);
});

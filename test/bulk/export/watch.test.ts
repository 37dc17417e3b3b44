import { describe, expect, it } from "vitest";
import { openWatch, type WatchOptions } from "../../../src/bulk/export/watch.ts";
import { fakePageList, KEYS, type FakeRow } from "./fake-list.ts";

const row = (id: string, at: number, more: Partial<FakeRow> = {}): FakeRow => ({ id, created_at: at, ...more });

function watchOf(rows: FakeRow[], options: Partial<WatchOptions> = {}) {
  const list = fakePageList({ rows, perPage: 2 });
  const watch = openWatch({
    changed: { list, keys: KEYS },
    created: { list: fakePageList({ rows: [], perPage: 2 }), keys: KEYS },
    isUnstamped: () => false,
    provesChanged: () => true,
    versions: { id: KEYS.id, at: (each) => KEYS.at(each) ?? 0, content: () => "" },
    since: null,
    now: () => 1_000,
    perPage: 2,
    concurrency: 2,
    signal: new AbortController().signal,
    ...options,
  });
  return async (pages = Infinity): Promise<string[]> => {
    const seen: string[] = [];
    let taken = 0;
    for await (const page of watch.look()) {
      seen.push(...page.rows.map(KEYS.id));
      taken += 1;
      if (taken === pages) break;
    }
    return seen;
  };
}

describe("a watched list", () => {
  it("when a row has a time in the future, then it comes once and hides none that come before it", async () => {
    const rows = [row("1", 900), row("2", 5_000)];
    const look = watchOf(rows);
    expect(await look()).toEqual(["1", "2"]);
    rows.push(row("3", 1_000), row("4", 995));
    expect(await look()).toEqual(["4", "3"]);
    rows.push(row("5", 1_000));
    expect([await look(), await look()]).toEqual([["5"], []]);
  });

  it("when rows without a time of change are not listed by change, then they come by their creation", async () => {
    const [stamped, bare] = [[row("1", 900)], [row("2", 901, { isBare: 1 }), row("3", 902)]];
    const created = { list: fakePageList({ rows: bare, perPage: 2 }), keys: KEYS };
    const look = watchOf(stamped, { created, isUnstamped: ({ isBare }) => isBare === 1, provesChanged: () => false });
    expect([await look(), await look()]).toEqual([["1", "2"], []]);
    bare.push(row("4", 903, { isBare: 1 }));
    expect(await look()).toEqual(["4"]);
  });

  it("when a look is left in the middle of a page, then the next one shows that page again", async () => {
    const look = watchOf([row("1", 900), row("2", 901), row("3", 902)]);
    expect(await look(1)).toEqual(["1", "2"]);
    expect(await look()).toEqual(["1", "2", "3"]);
  });
});

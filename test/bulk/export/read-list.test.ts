import * as fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readList, type ListRequest } from "../../../src/bulk/export/read-list.ts";
import { fakeCursorList, fakePageList, KEYS, type Fake, type FakeOptions, type FakeRow } from "./fake-list.ts";
import { size } from "../../helpers/long.ts";

const PER_PAGE = 5;
const UNTIL = 100_000;

async function collect(
  list: ListRequest<string[]>["list"],
  more: Partial<ListRequest<string[]>> = {},
): Promise<string[]> {
  const ids: string[] = [];
  for await (const batch of readList<string[]>({
    list,
    keys: KEYS,
    range: { since: null, until: null },
    perPage: PER_PAGE,
    concurrency: 4,
    fixUntil: async () => UNTIL,
    toBatch: ({ rows }) => rows.map((row) => KEYS.id(row)),
    signal: new AbortController().signal,
    ...more,
  }))
    ids.push(...batch);
  return ids;
}

const rowsAt = (times: readonly number[]): FakeRow[] =>
  times.toSorted((a, b) => a - b).map((created_at, index) => ({ id: String(index + 1), created_at }));
const idsOf = (rows: readonly FakeRow[]): string[] => rows.map(({ id }) => id);
const range = (count: number, at: (index: number) => number): FakeRow[] =>
  rowsAt(Array.from({ length: count }, (_, index) => at(index)));

const kinds: readonly [string, (options: FakeOptions) => ListRequest<string[]>["list"] & Fake][] = [
  ["a page-numbered list", fakePageList],
  ["a cursor list", fakeCursorList],
];

/** Evenly spread rows, bursts, one crowded second, and a long silence. */
const times = fc.oneof(
  fc.array(fc.integer({ min: 0, max: UNTIL }), { maxLength: 300 }),
  fc.array(fc.integer({ min: 500, max: 520 }), { maxLength: 200 }),
  fc.array(fc.constant(777), { maxLength: 60 }),
  fc
    .tuple(
      fc.array(fc.integer({ min: 0, max: 50 }), { maxLength: 60 }),
      fc.array(fc.integer({ min: 90_000, max: UNTIL }), { maxLength: 60 }),
    )
    .map((parts) => parts.flat()),
);

/** At most three rows per second. A second that fills a page needs page numbers, which shift when rows are deleted. */
const uncrowded = times.map((all) =>
  all.toSorted((a, b) => a - b).filter((at, index, sorted) => sorted[index - 3] !== at),
);

describe.each(kinds)("%s", (kind, fake) => {
  it("gives every row once and in order, at any concurrency and any order of answers", async () => {
    await fc.assert(
      fc.asyncProperty(
        times,
        fc.integer({ min: 1, max: 9 }),
        fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 7, maxLength: 7 }),
        async (at, concurrency, turns) => {
          const rows = rowsAt(at);
          const list = fake({ rows, perPage: PER_PAGE, turns: (n) => turns[n % turns.length] ?? 1 });
          expect(await collect(list, { concurrency })).toEqual(idsOf(rows));
          expect(list.maxAtOnce).toBeLessThanOrEqual(concurrency);
        },
      ),
      { numRuns: size(40, 150) },
    );
  });

  it("loses and doubles no row that was there from the start to the end while others come and go", async () => {
    const change = fc.record({
      request: fc.integer({ min: 1, max: 60 }),
      insertAt: fc.integer({ min: 0, max: UNTIL }),
      remove: fc.integer({ min: 0, max: 400 }),
    });
    await fc.assert(
      fc.asyncProperty(
        kind === "a cursor list" ? times : uncrowded,
        fc.array(change, { maxLength: 40 }),
        fc.integer({ min: 1, max: 9 }),
        async (at, changes, concurrency) => {
          const rows = rowsAt(at);
          const before = idsOf(rows);
          const removed = new Set<string>();
          let newest = 10_000;
          const onRequest = (n: number, live: FakeRow[]): void => {
            for (const { insertAt, remove } of changes.filter(({ request }) => request === n)) {
              newest += 1;
              live.push({ id: String(newest), created_at: insertAt });
              const [gone] = live.splice(remove % live.length, 1);
              if (gone !== undefined) removed.add(gone.id);
            }
          };
          const ids = await collect(fake({ rows, perPage: PER_PAGE, onRequest, turns: (n) => 1 + (n % 3) }), {
            concurrency,
          });
          expect(new Set(ids).size).toBe(ids.length);
          expect(ids).toEqual(expect.arrayContaining(before.filter((id) => !removed.has(id))));
        },
      ),
      { numRuns: size(50, 200) },
    );
  });

  it("is read in sequence when the service ignores times", async () => {
    const rows = range(83, (index) => index * 7);
    const list = fake({ rows, perPage: PER_PAGE, ignoresTimes: true });
    expect(await collect(list)).toEqual(idsOf(rows));
  });

  it("leaves out rows outside the range when the service ignores times", async () => {
    const rows = range(83, (index) => index * 7);
    const list = fake({ rows, perPage: PER_PAGE, ignoresTimes: true });
    expect(await collect(list, { range: { since: 70, until: 140 }, fixUntil: async () => 140 })).toEqual(
      idsOf(rows.filter(({ created_at }) => created_at >= 70 && created_at <= 140)),
    );
  });

  it("takes about as many requests as there are pages", async () => {
    const list = fake({ rows: range(5000, (index) => index * 20), perPage: 50 });
    await collect(list, { perPage: 50, concurrency: 8 });
    expect(list.requests.length).toBeLessThan(125);
  });

  it("asks for no more than shows that there is only one page", async () => {
    const list = fake({ rows: range(3, (index) => index), perPage: PER_PAGE });
    expect(await collect(list)).toEqual(["1", "2", "3"]);
    expect(list.requests).toHaveLength(kind === "a cursor list" ? 1 : 2);
  });

  it("ends with the error of a page that cannot be had", async () => {
    const list = fake({
      rows: range(400, (index) => index * 100),
      perPage: PER_PAGE,
      onRequest: (n) => {
        if (n === 37) throw new Error("page 37 is broken");
      },
    });
    await expect(collect(list)).rejects.toThrow("page 37 is broken");
  });

  it("stops asking when it is stopped", async () => {
    const stopping = new AbortController();
    const list = fake({
      rows: range(400, (index) => index * 100),
      perPage: PER_PAGE,
      onRequest: (n) => {
        if (n === 20) stopping.abort(new Error("stopped"));
      },
    });
    await expect(collect(list, { signal: stopping.signal })).rejects.toThrow("stopped");
    expect(list.requests.length).toBeLessThan(30);
  });
});

function crowd(n: number, live: FakeRow[]): void {
  if (n < 200) live.push({ id: String(1000 + n), created_at: 777 });
  if (n < 200 && n % 20 === 0) live.splice(live.length - 2, 1);
}

it("holds every row of a crowded second while others are added to it", async () => {
  const rows = range(400, (index) => (index < 100 ? index : 777));
  const before = idsOf(rows);
  const ids = await collect(fakePageList({ rows, perPage: PER_PAGE, onRequest: crowd }));
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids).toEqual(expect.arrayContaining(before));
});

it.each([
  ["are short in the middle", (row: FakeRow) => Number(row.id) % 23 < 4],
  ["hold one row", (row: FakeRow) => Number(row.id) % 5 !== 0],
  ["are never full", (row: FakeRow) => Number(row.id) % 3 === 0],
])("reads a service whose pages %s, since it leaves rows out after it has counted them", async (_, hides) => {
  const rows = range(183, (index) => Math.floor(index / 20) * 700 + (index % 20 < 12 ? 0 : index));
  const list = fakePageList({ rows, perPage: PER_PAGE, hides });
  expect(await collect(list)).toEqual(idsOf(rows.filter((row) => !hides(row))));
});

it("reads a service that gives fewer rows in a page than were asked for", async () => {
  const rows = range(83, (index) => index * 7);
  const list = fakePageList({ rows, perPage: 25 });
  expect(await collect(list, { perPage: 100 })).toEqual(idsOf(rows));
});

describe("a service that does not keep to the specification", () => {
  const crowded = range(60, (index) => 100 + Math.floor(index / 20) * 1000);

  it("has each row written once though its pages begin with rows of the page before", async () => {
    const rows = range(230, (index) => index * 7);
    const windows = fakeCursorList({ rows, perPage: PER_PAGE, overlap: 1 });
    const walk = fakeCursorList({ rows, perPage: PER_PAGE, overlap: 2, ignoresTimes: true });
    expect([await collect(windows), await collect(walk)]).toEqual([idsOf(rows), idsOf(rows)]);
  });

  it("has each row written once though it honours only the start of a range", async () => {
    expect(await collect(fakePageList({ rows: crowded, perPage: PER_PAGE, ignoresUntil: true }))).toEqual(
      idsOf(crowded),
    );
  });

  it.each(kinds)("is reported when it stops honouring times half way (%s)", async (_, fake) => {
    const options = { rows: range(400, (index) => index * 100), perPage: PER_PAGE, ignoresTimes: false };
    const onRequest = (n: number): void => {
      options.ignoresTimes = n > 50;
    };
    const list = fake(Object.assign(options, { onRequest }));
    await expect(collect(list)).rejects.toEqual(
      new Error("the service answers with rows outside the requested time range"),
    );
  });

  it.each([false, true])("cannot lead in a circle (times ignored: %s)", async (ignoresTimes) => {
    const rows = range(230, (index) => index * 7);
    const list = fakeCursorList({ rows, perPage: PER_PAGE, circleAfter: 4, ignoresTimes });
    await expect(collect(list)).rejects.toThrow('pagination loop: the server returned the same "next" link twice');
  });

  it.each([false, true])("cannot send one page for ever (times ignored: %s)", async (ignoresTimes) => {
    const list = fakePageList({ rows: crowded, perPage: PER_PAGE, ignoresPage: true, ignoresTimes });
    await expect(collect(list)).rejects.toThrow("the service keeps sending the same page");
  });

  it.each([
    { name: "crowded", rows: crowded, ignoresTimes: false },
    { name: "crowded", rows: crowded, ignoresTimes: true },
    { name: "spread", rows: range(230, (index) => index * 7), ignoresTimes: false },
  ])("cannot send one page for ever behind new links ($name, $ignoresTimes)", async ({ rows, ignoresTimes }) => {
    const list = fakeCursorList({ rows, perPage: PER_PAGE, ignoresPage: true, ignoresTimes });
    await expect(collect(list)).rejects.toThrow("the service keeps sending the same page");
    expect(list.requests.length).toBeLessThan(20);
  });
});

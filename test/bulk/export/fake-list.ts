import type { FetchedPage, PagedList, PageName, Range, RowKeys } from "../../../src/bulk/export/lists.ts";

export interface FakeRow {
  readonly id: string;
  readonly created_at: number;
  readonly [key: string]: string | number;
}

export const KEYS: RowKeys = {
  id: (row) => (typeof row.id === "string" ? row.id : ""),
  at: (row) => (typeof row.created_at === "number" ? row.created_at : null),
};

export interface FakeOptions {
  readonly rows: FakeRow[];
  readonly perPage: number;
  readonly onRequest?: (n: number, rows: FakeRow[]) => void;
  readonly turns?: (n: number) => number;
  readonly ignoresTimes?: boolean;
  /** The service applies `since` but not `until`. */
  readonly ignoresUntil?: boolean;
  readonly ignoresPage?: boolean;
  /** Rows that a numbered page counts but leaves out. */
  readonly hides?: (row: FakeRow) => boolean;
  /** Rows of the previous page repeated at the start of a cursor page. */
  readonly overlap?: number;
  /** After this many pages, the next link leads back to the second page. */
  readonly circleAfter?: number;
  readonly serverTime?: number | null;
}

export interface Fake {
  readonly requests: string[];
  maxAtOnce: number;
  atOnce: number;
}

const byTime = (a: FakeRow, b: FakeRow): number => a.created_at - b.created_at || Number(a.id) - Number(b.id);

export function fakePageList(options: FakeOptions): PagedList & Fake {
  const fake: PagedList & Fake = {
    isNumbered: true,
    hasTimes: true,
    requests: [],
    maxAtOnce: 0,
    atOnce: 0,
    fetch: ({ since, until, page }, signal) => {
      const wanted = Number(page ?? 1);
      return answer(fake, options, `page=${wanted} since=${since} until=${until}`, signal, () => {
        const found = select(options, { since, until: options.ignoresUntil === true ? null : until });
        const number = options.ignoresPage === true ? 1 : wanted;
        const rows = found.slice((number - 1) * options.perPage, number * options.perPage);
        return toPage(
          options,
          rows.filter((row) => options.hides?.(row) !== true),
          wanted + 1,
        );
      });
    },
    fault: (what) => new Error(what),
  };
  return fake;
}

export function fakeCursorList(options: FakeOptions): PagedList & Fake {
  const after = (range: Range, position: FakeRow | null, number: number): FetchedPage => {
    const all = select(options, range);
    const rest = all.filter((row) => position === null || byTime(row, position) > 0);
    const before = all.slice(0, all.length - rest.length).slice(all.length - rest.length - (options.overlap ?? 0));
    const rows = rest.slice(0, options.perPage);
    const last = rows.at(-1);
    const isBack = number === options.circleAfter;
    const next = isBack ? { range, last: all[options.perPage - 1], number: 2 } : { range, last, number: number + 1 };
    return toPage(options, [...before, ...rows], isBack || rest.length > rows.length ? JSON.stringify(next) : null);
  };
  const fake: PagedList & Fake = {
    isNumbered: false,
    hasTimes: true,
    requests: [],
    maxAtOnce: 0,
    atOnce: 0,
    fetch: ({ page, ...asked }, signal) => {
      if (page === null)
        return answer(fake, options, `since=${asked.since} until=${asked.until}`, signal, () => after(asked, null, 1));
      return answer(fake, options, "next", signal, () => {
        const { range, last, number } = JSON.parse(String(page)) as { range: Range; last: FakeRow; number: number };
        return after(range, options.ignoresPage === true ? null : last, number);
      });
    },
    fault: (what) => new Error(what),
  };
  return fake;
}

function select({ rows, ignoresTimes }: FakeOptions, { since, until }: Range): FakeRow[] {
  const sorted = rows.toSorted(byTime);
  if (ignoresTimes === true) return sorted;
  return sorted.filter((row) => row.created_at >= (since ?? -Infinity) && row.created_at <= (until ?? Infinity));
}

function toPage({ serverTime }: FakeOptions, rows: FakeRow[], next: PageName): FetchedPage {
  return { rows, text: JSON.stringify(rows), next, serverTime: serverTime ?? null };
}

async function answer(
  fake: Fake,
  options: FakeOptions,
  name: string,
  signal: AbortSignal,
  make: () => FetchedPage,
): Promise<FetchedPage> {
  const n = fake.requests.push(name);
  fake.atOnce += 1;
  fake.maxAtOnce = Math.max(fake.maxAtOnce, fake.atOnce);
  try {
    for (let turn = options.turns?.(n) ?? 1; turn > 0; turn -= 1) await new Promise((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
    options.onRequest?.(n, options.rows);
    return make();
  } finally {
    fake.atOnce -= 1;
  }
}

/** A list of the API in memory that changes while it is read. */
import type { CursorList, FetchedPage, PageList, Range, RowKeys } from "../../../src/bulk/export/lists.ts";

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
  /** What happens before the answer to request number `n` (from 1) is made. */
  readonly onRequest?: (n: number, rows: FakeRow[]) => void;
  /** How many turns of the event loop the answer takes. */
  readonly turns?: (n: number) => number;
  readonly ignoresTimes?: boolean;
  readonly serverTime?: number | null;
}

export interface Fake {
  readonly requests: string[];
  maxAtOnce: number;
  atOnce: number;
}

const byTime = (a: FakeRow, b: FakeRow): number => a.created_at - b.created_at || Number(a.id) - Number(b.id);

export function fakePageList(options: FakeOptions): PageList & Fake {
  const fake: PageList & Fake = {
    kind: "page",
    requests: [],
    maxAtOnce: 0,
    atOnce: 0,
    fetch: ({ since, until, page }, signal) =>
      answer(fake, options, `page=${page} since=${since} until=${until}`, signal, () => {
        const found = select(options, { since, until });
        return toPage(options, found.slice((page - 1) * options.perPage, page * options.perPage), null);
      }),
  };
  return fake;
}

export function fakeCursorList(options: FakeOptions): CursorList & Fake {
  const after = (range: Range, position: FakeRow | null): FetchedPage => {
    const rest = select(options, range).filter((row) => position === null || byTime(row, position) > 0);
    const rows = rest.slice(0, options.perPage);
    const last = rows.at(-1);
    return toPage(options, rows, rest.length > rows.length && last !== undefined ? JSON.stringify({ range, last }) : null);
  };
  const fake: CursorList & Fake = {
    kind: "cursor",
    hasTimes: true,
    requests: [],
    maxAtOnce: 0,
    atOnce: 0,
    open: (range, signal) => answer(fake, options, `since=${range.since} until=${range.until}`, signal, () => after(range, null)),
    follow: (next, signal) =>
      answer(fake, options, "next", signal, () => {
        const { range, last } = JSON.parse(next) as { range: Range; last: FakeRow };
        return after(range, last);
      }),
  };
  return fake;
}

function select({ rows, ignoresTimes }: FakeOptions, { since, until }: Range): FakeRow[] {
  const sorted = rows.toSorted(byTime);
  if (ignoresTimes === true) return sorted;
  return sorted.filter((row) => row.created_at >= (since ?? -Infinity) && row.created_at <= (until ?? Infinity));
}

function toPage({ serverTime }: FakeOptions, rows: FakeRow[], next: string | null): FetchedPage {
  return { rows, text: JSON.stringify(rows), next, serverTime: serverTime ?? null };
}

async function answer(fake: Fake, options: FakeOptions, name: string, signal: AbortSignal, make: () => FetchedPage): Promise<FetchedPage> {
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

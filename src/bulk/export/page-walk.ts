import type { FetchedPage, PageList } from "./lists.ts";

export interface PageWalk {
  /** One page by its number. */
  readonly fetch: (page: number) => Promise<FetchedPage>;
  readonly from: number;
  /** Rows of a full page; a shorter one is the last. */
  readonly fullSize: number;
  /** Pages asked for at once. */
  readonly ahead: number;
  /** The last page that is expected to exist, so that few are asked for in vain; null when unknown. */
  readonly expectedLast: number | null;
  /** The error when a page comes again under the next number. */
  readonly fault: PageList["fault"];
}

/** Pages of a numbered list in order, fetched ahead of need, until one is short or empty. */
export async function* walkPages({
  fetch,
  from,
  fullSize,
  ahead,
  expectedLast,
  fault,
}: PageWalk): AsyncGenerator<FetchedPage> {
  const asked: Promise<FetchedPage>[] = [];
  let next = from;
  const askAhead = (): void => {
    while (asked.length < ahead && (asked.length === 0 || next <= (expectedLast ?? Infinity))) {
      const page = fetch(next);
      // Its error is met when its turn comes; until then it is nobody's.
      page.catch(() => {});
      asked.push(page);
      next += 1;
    }
  };
  let before = "";
  for (let number = from; ; number += 1) {
    askAhead();
    const page = await asked.shift();
    if (page === undefined) return;
    if (page.rows.length > 0 && page.text === before)
      throw fault(`the service sends the same page again and again (page ${number})`);
    yield page;
    if (page.rows.length < fullSize) return;
    before = page.text;
  }
}

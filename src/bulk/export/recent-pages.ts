import { keepRows, type RowKeys, type RowPage } from "./lists.ts";

/** So many pages a list may shift by while it is read. */
const REMEMBERED_PAGES = 10;

/**
 * Leaves out of each page what a page before it held. Rows that arrive push others from the end of one page to the
 * start of a later one, so a page whose first row is new has only new ones: one look for each page, not for each row.
 */
export function createRecentPages(keys: RowKeys): (page: RowPage) => RowPage {
  const before: (readonly string[])[] = [];
  const isKnown = (id: string): boolean => before.some((ids) => ids.includes(id));
  return (page) => {
    const ids = page.rows.map((row) => keys.id(row));
    const [first] = ids;
    const shifted = first !== undefined && isKnown(first);
    const fresh = shifted ? keepRows(page, (row) => !isKnown(keys.id(row))) : page;
    before.push(ids);
    if (before.length > REMEMBERED_PAGES) before.shift();
    return fresh;
  };
}

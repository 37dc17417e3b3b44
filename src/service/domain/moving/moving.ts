import { createHash } from "node:crypto";
import type { StoreContents, TableRow, TableRows, Transaction } from "../ports.ts";

export interface TableSum {
  readonly table: string;
  readonly rows: number;
  /** Null if there are no rows, or if they have no id. */
  readonly least_id: number | null;
  readonly most_id: number | null;
  readonly digest: string;
}

/** Reads maintained counts, so its cost doesn't depend on the store's size. */
export async function countContents(tx: Transaction): Promise<StoreContents> {
  const projects = await tx.projects.list();
  const totals = { projects: projects.length, people: 0, responses: 0, surveys: 0 };
  for (const { id } of projects) {
    const { people, responses } = await tx.projects.counts(id);
    totals.people += people;
    totals.responses += responses;
  }
  for (const { count } of await tx.deliveries.counts()) totals.surveys += count;
  return totals;
}

/** Rows per page: few enough to fit in memory, and enough to outweigh the cost of a statement. */
const PAGE = 500;

/** `onPage` gets the number of rows so far, and can throw to cancel. Throws an Error if a copy differs. */
export async function copyRows(
  from: Transaction,
  to: Transaction,
  onPage: (rows: number) => Promise<void>,
): Promise<readonly TableSum[]> {
  const sums: TableSum[] = [];
  let rows = 0;
  const tables = from.tables.names;
  // Clears the tables in reverse order, so that rows left by a killed run are deleted before those they refer to.
  for (const table of tables.toReversed()) await to.tables.clear(table);
  for (const table of tables) {
    // Deletes rows that the engine may have added in the meantime, such as the time of the newest write.
    await to.tables.clear(table);
    const sum = await readTable(from.tables, table, async (page) => {
      await to.tables.insert(table, page);
      rows += page.length;
      await onPage(rows);
    });
    sums.push(sum);
  }
  for (const sum of sums) {
    // Read back at the end, because copying a later table may have changed it.
    const stored = await readTable(to.tables, sum.table, () => onPage(rows));
    if (stored.rows !== sum.rows || stored.digest !== sum.digest)
      throw new Error(`table ${sum.table} has ${sum.rows} rows, and the copy differs (${stored.rows} rows)`);
  }
  return sums;
}

async function readTable(
  tables: TableRows,
  table: string,
  onPage: (page: readonly TableRow[]) => Promise<void>,
): Promise<TableSum> {
  const hash = createHash("sha256");
  let [rows, least, most] = [0, Infinity, -Infinity];
  for (let page = await tables.page(table, null, PAGE); page.length > 0;) {
    const columns = Object.keys(page[0] ?? {}).toSorted();
    hash.update(page.map((row) => `${JSON.stringify(columns.map((column) => row[column]))}\n`).join(""));
    for (const { id } of page) {
      if (typeof id !== "number") break;
      least = Math.min(least, id);
      most = Math.max(most, id);
    }
    rows += page.length;
    await onPage(page);
    page = page.length < PAGE ? [] : await tables.page(table, page.at(-1) ?? null, PAGE);
  }
  const ids = least <= most ? { least_id: least, most_id: most } : { least_id: null, most_id: null };
  return { table, rows, ...ids, digest: hash.digest("hex") };
}

import type { Database, SqlRow, SqlValue } from "../database.ts";
import { insertSql } from "../columns.ts";
import { TABLES } from "../schema/baseline.ts";
import { COUNTED_LISTS, type CountedTable, countingColumns } from "./counted-lists.ts";

/** Values by column; missing columns get their default. */
export type NewRow = Readonly<Record<string, SqlValue>>;
export type Fragment = readonly [sql: string, ...values: SqlValue[]];
/** A condition that begins with the project, so that a write stays on one node of a cluster. */
export type OfProject = readonly [where: `project_id = ?${string}`, ...values: SqlValue[]];

/** Inserts a row that can't violate a unique index. */
export function sendRow(database: Database, table: CountedTable, row: NewRow): void {
  database.send(insertSql(table, Object.keys(row)), Object.values(row));
  database.counts.add(table, row, 1);
}

export async function insertRow(database: Database, table: CountedTable, row: NewRow): Promise<void> {
  await database.run(insertSql(table, Object.keys(row)), Object.values(row));
  database.counts.add(table, row, 1);
}

/**
 * `old` has the previous values of the columns that affect counts; if it's missing, they are read. Rejects with
 * UniqueViolation.
 */
export async function updateRows(
  database: Database,
  table: CountedTable,
  [set, ...values]: Fragment,
  [where, ...whereValues]: OfProject,
  old?: NewRow,
): Promise<number> {
  const { columns, setting } = FACTS[table];
  const sql = `UPDATE ${table} SET ${set} WHERE ${where}`;
  if (!setting.test(set)) return database.run(sql, [...values, ...whereValues]);
  const [read, after] = await Promise.all([
    old === undefined ? database.all(`SELECT ${columns} FROM ${table} WHERE ${where}`, whereValues) : [],
    database.returning(`${sql} RETURNING ${columns}`, [...values, ...whereValues]),
  ]);
  const before = old === undefined ? read : after.map((row) => ({ ...row, ...old }));
  for (const row of before) database.counts.add(table, row, -1);
  for (const row of after) database.counts.add(table, row, 1);
  return after.length;
}

/** Also deletes dependent rows. Resolves with the deleted rows, reduced to the columns that affect counts. */
export async function deleteRows(
  database: Database,
  table: DeletedTable,
  project: number,
  [where, ...values]: Fragment,
): Promise<readonly SqlRow[]> {
  const chosen = `SELECT id FROM ${table} WHERE project_id = ? AND ${where}`;
  for (const [child, column] of FACTS[table].children) {
    // Messages attached to another message have no dependents of their own.
    const remove = child === table ? deleteOnly : deleteRows;
    await remove(database, child, project, [`${column} IN (${chosen})`, project, ...values]);
  }
  return deleteOnly(database, table, project, [where, ...values]);
}

async function deleteOnly(
  database: Database,
  table: DeletedTable,
  project: number,
  [where, ...values]: Fragment,
): Promise<readonly SqlRow[]> {
  const sql = `DELETE FROM ${table} WHERE project_id = ? AND ${where} RETURNING ${FACTS[table].columns}`;
  const rows = await database.returning(sql, [project, ...values]);
  for (const row of rows) database.counts.add(table, row, -1);
  return rows;
}

/** Includes tables that aren't counted but have counted dependents. */
type DeletedTable = CountedTable | "digests" | "trends" | "webhook_events";

interface TableFacts {
  readonly columns: string;
  readonly setting: RegExp;
  /** Counted tables whose rows are deleted with this table's, and the referencing column. */
  readonly children: readonly (readonly [table: CountedTable, column: string])[];
}

const CASCADE = /^\(project_id, (\w+)\) REFERENCES (\w+) \(project_id, id\) ON DELETE CASCADE$/;

function countingFacts(table: string): TableFacts {
  const columns = new Set(["project_id"]);
  for (const list of COUNTED_LISTS.filter((one) => one.table === table))
    for (const column of countingColumns(list)) columns.add(column);
  const children = TABLES.flatMap(({ name, references = [] }) =>
    references.flatMap((reference) => {
      const [, column = "", parent] = CASCADE.exec(reference) ?? [];
      return parent === table && isCounted(name) ? [[name, column] as const] : [];
    }),
  );
  return {
    columns: [...columns].join(", "),
    setting: new RegExp(`(?:^|,\\s*)(?:${[...columns].join("|")}) =`),
    children,
  };
}

export function isCounted(table: string): table is CountedTable {
  return COUNTED_LISTS.some((list) => list.table === table);
}

const FACTS: Readonly<Record<DeletedTable, TableFacts>> = {
  people: countingFacts("people"),
  responses: countingFacts("responses"),
  trend_responses: countingFacts("trend_responses"),
  messages: countingFacts("messages"),
  webhook_deliveries: countingFacts("webhook_deliveries"),
  digests: countingFacts("digests"),
  trends: countingFacts("trends"),
  webhook_events: countingFacts("webhook_events"),
};

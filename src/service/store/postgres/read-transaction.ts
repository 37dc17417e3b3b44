import type { Transaction } from "../../domain/ports.ts";
import type { WriteTime } from "../../domain/write-time.ts";
import type { TransactionDatabase } from "./transaction-database.ts";
import type { StoreRows } from "../sql/store-rows.ts";

const BEGIN = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
/** A stalled read blocks no one, but the server must keep deleted rows that it may still read. */
const LIMITS = "SET LOCAL statement_timeout = '5s'; SET LOCAL idle_in_transaction_session_timeout = '60s'";
const NO_LIMITS = "SET LOCAL statement_timeout = 0; SET LOCAL idle_in_transaction_session_timeout = 0";

export async function runRead<Result>(
  database: TransactionDatabase,
  rows: StoreRows,
  { now, isLong }: { readonly now: WriteTime; readonly isLong: boolean },
  work: (tx: Transaction) => Promise<Result>,
): Promise<Result> {
  database.sendControl(`${BEGIN}; ${isLong ? NO_LIMITS : LIMITS}`);
  const result = await work(rows.begin(now));
  await database.command("COMMIT");
  return result;
}

/** The format from which Parquet files are made: a line of JSON with the columns, then one line of cells per row. */
import type { PageEncoder } from "../../contract/row-page.ts";
import type { Json, JsonObject } from "../../contract/json.ts";
import { rowsWithMarks, unmarkLongNumbers } from "../../contract/long-numbers.ts";
import { BegunError } from "../errors/command-errors.ts";
import { UsageError } from "../errors/usage-error.ts";
import { type Column, toCellText } from "../render/columns.ts";

/** A row can omit the cells of its last columns. */
export type Cell = string | number | null;

export interface TypedColumn {
  readonly name: string;
  readonly type: "STRING" | "INT32" | "TIMESTAMP";
}

export function createParquetRows(columns: readonly Column[]): PageEncoder {
  return {
    head: `${JSON.stringify(columns.map(({ name, kind }): TypedColumn => ({ name, type: typeOf(kind) })))}\n`,
    between: "",
    rows(page) {
      const rows = rowsWithMarks(page) ?? page.rows;
      return rows.map((row) => `${JSON.stringify(columns.map((column) => toCell(column, row)))}\n`).join("");
    },
    tail: () => "",
  };
}

function typeOf(kind: Column["kind"]): TypedColumn["type"] {
  return kind === "time" ? "TIMESTAMP" : kind === "score" ? "INT32" : "STRING";
}

/** Times are milliseconds. Throws BegunError for a value that the column's type can't hold. */
function toCell(column: Column, row: JsonObject): Cell {
  const value = column.read(row) ?? null;
  if (value === null) return null;
  const type = typeOf(column.kind);
  if (type === "STRING") return unmarkLongNumbers(toCellText(column, value, String));
  const number = typeof value !== "number" ? NaN : type === "INT32" ? value : Math.round(value * 1000);
  const isInRange = type === "INT32" ? (number | 0) === number : Number.isSafeInteger(number);
  if (!isInRange) throw misfit(column, row, value);
  return number;
}

function misfit({ name, kind }: Column, row: JsonObject, value: Json): BegunError {
  const id = toCellText({ name, kind: "id", read: () => null }, row["id"] ?? row["person_id"], String);
  const shown = unmarkLongNumbers(JSON.stringify(value));
  const message = `${name} of row ${id} is ${shown}, which is no ${kind}, and a column of Parquet has one type`;
  return new BegunError(new UsageError(message, { hint: "use -o csv or -o ndjson, or leave the column out" }));
}

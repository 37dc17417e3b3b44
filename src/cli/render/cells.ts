import type { Json } from "../../contract/json.ts";
import type { Column } from "./columns.ts";
import type { TimeFormatter } from "./time.ts";

/** A value as the text of one cell: empty for null and absent, maps and arrays as JSON, times by the formatter. */
export function toCellText(column: Column, value: Json | undefined, time: TimeFormatter): string {
  if (typeof value === "string") return value;
  if (value === null || value === undefined) return "";
  if (typeof value === "object") return Array.isArray(value) && value.length === 0 ? "[]" : JSON.stringify(value);
  return column.kind === "time" && typeof value === "number" ? time(value) : String(value);
}

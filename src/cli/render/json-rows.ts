import { isJsonObject, type Json, type JsonObject } from "../../contract/json.ts";
import { RESOURCES } from "../../contract/resources.ts";
import type { Column } from "./columns.ts";
import { createTimeFormatter, type TimeFormat, type TimeFormatter } from "./time.ts";

export interface JsonRowOptions {
  readonly columns: readonly Column[] | null;
  readonly time: TimeFormat | null;
  readonly zone: string | null;
  readonly now: number;
}

/**
 * How `--columns` and `--time` change a row's JSON: an object of the columns named, times rewritten.
 * Null when neither is given: then the row's own text is the output.
 */
export function createJsonWriter({ columns, time, zone, now }: JsonRowOptions): ((row: JsonObject) => string) | null {
  const retime = time === null || time === "unix" ? null : createTimeFormatter({ format: time, zone, now });
  if (columns === null) return retime === null ? null : (row) => JSON.stringify(rewriteTimes(row, retime));
  return (row) =>
    JSON.stringify(Object.fromEntries(columns.map((column) => [column.name, readColumn(column, row, retime)])));
}

function readColumn(column: Column, row: JsonObject, retime: TimeFormatter | null): Json {
  const value = column.read(row) ?? null;
  if (retime === null) return value;
  if (typeof value === "number") return column.kind === "time" ? retime(value) : value;
  return column.name.endsWith("properties") ? value : rewriteTimes(value, retime);
}

const TIME_FIELDS: ReadonlySet<string> = new Set(
  Object.values(RESOURCES)
    .flat()
    .filter(({ type }) => type === "timestamp")
    .map(({ name }) => name),
);
/** Maps of the customer's own keys: nothing in them is a time of ours. */
const CUSTOM_MAPS: ReadonlySet<string> = new Set(["properties", "person_properties"]);

function rewriteTimes(value: Json, retime: TimeFormatter): Json {
  if (Array.isArray(value)) return value.map((item) => rewriteTimes(item, retime));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, item]) => {
      if (CUSTOM_MAPS.has(key)) return [key, item];
      return [key, typeof item === "number" && TIME_FIELDS.has(key) ? retime(item) : rewriteTimes(item, retime)];
    }),
  );
}

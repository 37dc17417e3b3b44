import { type Json, type JsonObject, plainText } from "../../contract/json.ts";
import type { Properties } from "../../contract/resources.ts";
import type { HistoryField, HistoryTarget } from "./columns.ts";

export interface DistributedValues {
  readonly fields: ReadonlyMap<HistoryField, Json>;
  readonly properties: Properties;
  readonly answers: Properties;
}

/** Calls `lose` for each value that has no target, or whose target is already taken by another column. */
export function distribute(
  row: JsonObject,
  targetOf: (column: string) => HistoryTarget,
  lose: (column: string) => void,
): DistributedValues {
  const fields = new Map<HistoryField, Json>();
  const [properties, answers]: [Properties, Properties] = [{}, {}];
  for (const column of Object.keys(row)) {
    const value = row[column];
    if (value === null || value === undefined || value === "") continue;
    const target = targetOf(column);
    if (target.kind === "property") setOwn(properties, target.key, value);
    else if (target.kind === "answer") setOwn(answers, target.question, value);
    else if (target.kind === "lost" || target.kind === "unknown") lose(column);
    else if (target.kind === "field") {
      const first = fields.get(target.field);
      if (first === undefined) fields.set(target.field, value);
      else if (target.field !== "synced_at" && plainText(first) !== plainText(value)) lose(column);
    }
  }
  return { fields, properties, answers };
}

function setOwn(properties: Properties, key: string, value: Json): void {
  if (key !== "__proto__") properties[key] = value;
  else Object.defineProperty(properties, key, { value, enumerable: true, configurable: true, writable: true });
}

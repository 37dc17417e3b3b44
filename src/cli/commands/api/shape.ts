import { isJsonObject, parseJson, type JsonObject } from "../../../contract/json.ts";
import type { Deps } from "../../kit/deps.ts";
import { pathColumn, type Resource } from "../../render/columns.ts";
import { writeList } from "../../render/list-output.ts";
import { writeRecord } from "../../render/record-output.ts";
import { indentJson } from "../../render/json-indent.ts";
import { toSafeLines } from "../../render/safe-text.ts";

/** True if an output flag asks for something other than the response's own JSON. */
export function isShaped({ options: { output, columns, time, excel } }: Deps): boolean {
  return (output !== null && output !== "json") || excel || columns !== null || time !== null;
}

/** Prints an array as rows of `list` and an object as a record. Prints nothing and returns false for anything else. */
export async function writeShaped(deps: Deps, text: string, list: Resource | null): Promise<boolean> {
  const json = parseJson(text);
  const context = {
    ...deps,
    options: { ...deps.options, output: deps.options.output ?? (deps.options.excel ? "csv" : "json") },
  };
  if (isJsonObject(json)) {
    await writeRecord(context, resourceOf([json]), { json, text });
    return true;
  }
  if (!Array.isArray(json) || !json.every(isJsonObject)) return false;
  await writeList(context, { resource: list ?? resourceOf(json) }, { rows: json, text });
  return true;
}

function resourceOf(rows: readonly JsonObject[]): Resource {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  return {
    noun: "rows",
    columns: names.map((name) => pathColumn(name)),
    dropFirst: names.toReversed(),
    open: true,
  };
}

export async function toTerminalJson(text: string, color: boolean, depth = 0): Promise<string> {
  const { paintJson } = await import("../../render/human.ts");
  return paintJson(toSafeLines(indentJson(text, depth)), color);
}

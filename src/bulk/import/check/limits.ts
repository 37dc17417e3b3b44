/** How long values may be: some limits are the specification's, others those of our own service alone. */
import type { JsonObject } from "../../../contract/json.ts";
import {
  ANSWERS_BYTES_MAX,
  characterCount,
  NAME_MAX,
  PROPERTIES_BYTES_MAX,
  TEXT_BYTES_MAX,
} from "../../../contract/limits.ts";
import type { RowProblem, RowValues } from "./row-kind.ts";

/** What our own service refuses. `properties` is null if they are too short to be measured. */
export function findOwnLimit(values: RowValues, properties: JsonObject | null): RowProblem | null {
  const { name, comment, additional_answers: answers } = values;
  return (
    checkLength("name", name, NAME_MAX) ??
    checkBytes("comment", comment, TEXT_BYTES_MAX) ??
    checkBytes("additional_answers", answers, ANSWERS_BYTES_MAX) ??
    checkBytes("properties", properties === null ? "" : JSON.stringify(properties), PROPERTIES_BYTES_MAX)
  );
}

export function checkLength(column: string, text: RowValues[string], max: number): RowProblem | null {
  if (typeof text !== "string" || text.length <= max) return null;
  const length = characterCount(text);
  return length > max ? exceeds(column, length, "characters", max) : null;
}

function checkBytes(column: string, text: RowValues[string], max: number): RowProblem | null {
  if (typeof text !== "string" || 3 * text.length <= max) return null;
  const bytes = Buffer.byteLength(text);
  return bytes > max ? exceeds(column, bytes, "bytes", max) : null;
}

function exceeds(column: string, size: number, unit: string, max: number): RowProblem {
  return { column, message: `has ${size} ${unit}; at most ${max} are allowed` };
}

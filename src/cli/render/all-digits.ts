import type { JsonObject } from "../../contract/json.ts";
import { mayHoldLongNumbers, quoteLongNumbers } from "../../contract/row-texts.ts";
import type { Rows } from "./encoders.ts";

/** Rows to be read by people: an id of more digits than a number holds is a text, so that it is not another id. */
export function withAllDigits({ rows, text, source }: Rows): readonly JsonObject[] {
  const quoted = mayHoldLongNumbers(source ?? text) ? quoteLongNumbers(text) : null;
  return quoted === null ? rows : (JSON.parse(quoted) as JsonObject[]);
}

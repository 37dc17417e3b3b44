/** Lists as the JSON text that the store renders. */
import type { JsonRows } from "./ports.ts";

/** One page of a cursor list as a JSON array's text. */
export interface JsonPage {
  readonly json: string;
  /** Position of the next page; null on the last. */
  readonly next: string | null;
}

/** The JSON array of these rows. */
export function toJsonArray(rows: JsonRows): string {
  return `[${rows.join(",")}]`;
}

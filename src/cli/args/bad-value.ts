import { UsageError } from "../errors/usage-error.ts";

/** One sentence for a wrong value: where it stands, what it is, which forms are accepted. */
export function badValue(place: string, text: string, expected: string, hint?: string): UsageError {
  return new UsageError(`${place}: ${JSON.stringify(text)} is not ${expected}`, hint === undefined ? {} : { hint });
}

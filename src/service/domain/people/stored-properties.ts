import { PROPERTIES_BYTES_MAX } from "../../../contract/limits.ts";
import type { Properties } from "../../../contract/resources.ts";
import { MESSAGE_TEXTS } from "../../../contract/special-properties.ts";
import { InvalidError } from "../errors.ts";
import type { PersonRow } from "../ports.ts";

export function storedProperties(person: Pick<PersonRow, "properties"> | null): Properties {
  return JSON.parse(person?.properties ?? "{}") as Properties;
}

/** Null or an empty string removes a key. Throws InvalidError if the result is too large. */
export function mergeProperties(stored: Properties, given: Properties): Properties {
  const merged = Object.fromEntries(
    Object.entries({ ...stored, ...given }).filter(([, value]) => value !== null && value !== ""),
  );
  if (Buffer.byteLength(JSON.stringify(merged)) <= PROPERTIES_BYTES_MAX) return merged;
  throw new InvalidError({
    properties: [`are too large together with the stored ones (maximum is ${PROPERTIES_BYTES_MAX} bytes)`],
  });
}

/** Omits texts that were meant for a single message. */
export function carriedProperties(stored: Properties): Properties {
  return Object.fromEntries(Object.entries(stored).filter(([key]) => !MESSAGE_TEXTS.has(key)));
}

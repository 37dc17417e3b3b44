/** The sentence about a property that no response has. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { suggest } from "../../args/suggest.ts";
import { toSafeText } from "../../render/safe-text.ts";

/** A page's first row is sample enough. */
export function sampleNames([first]: readonly JsonObject[]): readonly string[] {
  const properties = first?.["person_properties"];
  return isJsonObject(properties) ? Object.keys(properties) : [];
}

/** `names` are the properties that responses have. */
export function describeUnknown(
  properties: readonly string[],
  names: ReadonlySet<string>,
): { readonly message: string; readonly hint: string | null } {
  const shown = properties.map(toSafeText).join(" or ");
  // It is there, empty.
  if (properties.every((name) => names.has(name)))
    return { message: `no response has a value of the property ${shown}`, hint: null };
  const nearest = suggest(properties[0] ?? "", [...names]);
  const known = [...names].slice(0, 10).join(", ");
  const others = known === "" ? null : `responses have ${known}`;
  return {
    message: `no response has the property ${shown}`,
    hint: nearest === null ? others : `did you mean ${nearest}?`,
  };
}

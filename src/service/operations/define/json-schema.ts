import * as v from "valibot";
import type { Json, JsonObject } from "../../../contract/json.ts";

interface AnySchema extends v.GenericSchema {
  readonly wrapped?: AnySchema;
  readonly default?: Json;
  readonly options?: readonly Json[];
  readonly item?: AnySchema;
}

export function toJsonSchema({ entries }: { readonly entries: v.ObjectEntries }): JsonObject {
  const all = Object.entries(entries) as [string, AnySchema][];
  return {
    type: "object",
    properties: Object.fromEntries(all.map(([name, schema]) => [name, describeField(schema)])),
    required: all.flatMap(([name, { type }]) => (type === "optional" ? [] : [name])),
    additionalProperties: false,
  };
}

function describeField(schema: AnySchema | undefined): JsonObject {
  if (schema === undefined) return {};
  const { type, wrapped, default: otherwise = null, options = [], item } = schema;
  if (type === "optional") return { ...describeField(wrapped), ...(otherwise !== null && { default: otherwise }) };
  if (type === "nullable") return { anyOf: [describeField(wrapped), { type: "null" }] };
  if (type === "picklist") return { enum: [...options] };
  if (type === "array") return { type, items: describeField(item) };
  return (v.getMetadata(schema) as { readonly json?: JsonObject }).json ?? { type };
}

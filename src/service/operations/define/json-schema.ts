/** JSON Schemas of what operations take and return. */
import * as v from "valibot";
import type { Json, JsonObject } from "../../../contract/json.ts";

interface AnySchema extends v.GenericSchema {
  readonly wrapped?: AnySchema;
  readonly default?: Json;
  readonly options?: readonly (Json | AnySchema)[];
  readonly literal?: Json;
  readonly item?: AnySchema;
  readonly value?: AnySchema;
  readonly entries?: Readonly<Record<string, AnySchema>>;
}

export function toJsonSchema(given: v.GenericSchema): JsonObject {
  const { json } = v.getMetadata(given) as { readonly json?: JsonObject };
  if (json !== undefined) return json;
  const { type, wrapped, default: otherwise, options = [], literal = null, item, value, entries } = given as AnySchema;
  switch (type) {
    case "optional":
      return { ...inside(wrapped), ...(otherwise !== undefined && otherwise !== null && { default: otherwise }) };
    case "nullable":
      return { anyOf: [inside(wrapped), { type: "null" }] };
    case "picklist":
      return { enum: [...options] as Json[] };
    case "literal":
      return { const: literal };
    case "union":
      return { anyOf: (options as readonly AnySchema[]).map(toJsonSchema) };
    case "array":
      return { type: "array", items: inside(item) };
    case "record":
      return { type: "object", additionalProperties: inside(value) };
    case "object":
    case "strict_object":
      return toObject(entries ?? {});
    default:
      return type === "custom" ? {} : { type };
  }
}

function inside(schema: AnySchema | undefined): JsonObject {
  return schema === undefined ? {} : toJsonSchema(schema);
}

function toObject(entries: Readonly<Record<string, AnySchema>>): JsonObject {
  const required = Object.entries(entries).flatMap(([name, { type }]) => (type === "optional" ? [] : [name]));
  return {
    type: "object",
    properties: Object.fromEntries(Object.entries(entries).map(([name, schema]) => [name, toJsonSchema(schema)])),
    ...(required.length > 0 && { required }),
    additionalProperties: false,
  };
}

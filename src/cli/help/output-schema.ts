/** The JSON Schema of what a command prints with `-o json`, from the columns that it declares. */
import type { Json, JsonObject } from "../../contract/json.ts";
import type { ColumnKind, Resource } from "../render/columns.ts";

const NUMBER: JsonObject = { type: ["number", "null"] };
const KINDS: Readonly<Record<ColumnKind, JsonObject>> = {
  text: {},
  choices: {},
  status: {},
  id: { type: ["string", "integer", "null"] },
  phone: { type: ["string", "null"] },
  time: { type: ["integer", "null"], description: "Unix seconds" },
  flag: { type: ["boolean", "null"] },
  number: NUMBER,
  change: NUMBER,
  nps: NUMBER,
  points: NUMBER,
  share: NUMBER,
  probability: NUMBER,
  score: NUMBER,
  duration: { ...NUMBER, description: "seconds" },
};

/** A list prints an array, other commands an object or several. Fields of which the command knows nothing may come too. */
export function outputSchema(title: string, { noun, columns }: Resource): JsonObject {
  const fields = columns.map(({ name, kind }): [string, Json] => [name, KINDS[kind]]);
  const row: JsonObject = { type: "object", properties: Object.fromEntries(fields) };
  const rows: JsonObject = { type: "array", items: { $ref: "#/$defs/row" } };
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: `surveyctl ${title} -o json`,
    description: noun,
    ...(title.endsWith(" list") ? rows : { anyOf: [{ $ref: "#/$defs/row" }, rows] }),
    $defs: { row },
  };
}

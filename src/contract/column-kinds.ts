import type { JsonObject } from "./json.ts";

const NUMBER: JsonObject = { type: ["number", "null"] };

export const KIND_SCHEMAS = {
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
} satisfies Readonly<Record<string, JsonObject>>;

export type ColumnKind = keyof typeof KIND_SCHEMAS;

export function isNumeric({ kind }: { readonly kind: ColumnKind }): boolean {
  return KIND_SCHEMAS[kind] === NUMBER;
}

import type { JsonObject } from "./json.ts";

export type ColumnKind =
  | "text"
  | "choices"
  | "id"
  | "time"
  | "phone"
  | "number"
  | "change"
  | "nps"
  | "points"
  | "share"
  | "probability"
  | "score"
  | "flag"
  | "status"
  | "duration";

const NUMBER: JsonObject = { type: ["number", "null"] };

export const KIND_SCHEMAS: Readonly<Record<ColumnKind, JsonObject>> = {
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

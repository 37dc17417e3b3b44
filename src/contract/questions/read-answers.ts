/** Converts additional answers that a client sent to the form of section 2. */
import { isJsonObject, type Json } from "../json.ts";
import type { AdditionalAnswer, Choice } from "../resources.ts";
import { QUESTION_TYPES } from "./questions.ts";

/** Returns all four value keys and drops other fields; null for an invalid answer. */
export function readAdditionalAnswer(given: Json): AdditionalAnswer | null {
  if (!isJsonObject(given)) return null;
  const id = readId(given["id"]);
  const value = readValue(given["value"]);
  const question = readQuestion(given["question"]);
  return id === null || value === null || question === null ? null : { id, value, question };
}

function readQuestion(given: Json | undefined): AdditionalAnswer["question"] | null {
  if (!isJsonObject(given)) return null;
  const id = readId(given["id"]);
  const type = QUESTION_TYPES.find((one) => one === given["type"]);
  const { text } = given;
  return id === null || type === undefined || typeof text !== "string" ? null : { id, type, text };
}

/** Sets at most one of the four kinds. An answer outside its question's scale or choices is kept as text. */
function readValue(given: Json | undefined): AdditionalAnswer["value"] | null {
  if (!isJsonObject(given)) return null;
  const { free_response: text = null, scale = null, select_one: one = null, select_many: many = null } = given;
  if ([text, scale, one, many].filter((kind) => kind !== null).length > 1) return null;
  const value = { free_response: null, scale: null, select_one: null, select_many: null };
  if (text !== null) return typeof text === "string" ? { ...value, free_response: text } : null;
  if (scale !== null) return typeof scale === "number" && Number.isSafeInteger(scale) ? { ...value, scale } : null;
  if (one === null && many === null) return value;
  const choices = one !== null ? [readChoice(one)] : Array.isArray(many) ? many.map(readChoice) : [null];
  if (!choices.every((choice) => choice !== null)) return null;
  return one !== null ? { ...value, select_one: choices[0] ?? null } : { ...value, select_many: choices };
}

function readChoice(given: Json): Choice | null {
  if (!isJsonObject(given)) return null;
  const id = readId(given["id"]);
  const { text } = given;
  return id === null || typeof text !== "string" ? null : { id, text };
}

/** Some clients send ids as numbers. */
function readId(given: Json | undefined): string | null {
  return typeof given === "string" || typeof given === "number" ? String(given) : null;
}

/** Additional answers of a response (section 2) as their readers use them, whichever service sent them. */
import { isJsonObject, type Json } from "../json.ts";

/** One answer in one form. */
export interface PlainAnswer {
  /** The question's id; its text where it has none. */
  readonly id: string;
  /** One of the specification's four, or another service's own. */
  readonly type: string;
  /** The question as it was asked. */
  readonly question: string;
  /** A person's own words, a number, or choices. */
  readonly value: string | number | readonly PlainChoice[];
}

interface PlainChoice {
  /** Its text where it has none. */
  readonly id: string;
  readonly text: string;
}

/** A response, or the part of it that is read here. */
interface ResponseAnswers {
  readonly additional_answers?: unknown;
}

/** In the order asked; answers that say nothing are left out. */
export function plainAnswers({ additional_answers: answers }: ResponseAnswers): readonly PlainAnswer[] {
  if (!Array.isArray(answers)) return [];
  return answers.flatMap((answer: unknown): PlainAnswer[] => {
    if (!isJsonObject(answer)) return [];
    const question = isJsonObject(answer["question"]) ? answer["question"] : {};
    const text = textOf(question["text"]);
    const value = plainValue(answer["value"]);
    const id = textOf(question["id"]) || text;
    return value === null || id === "" ? [] : [{ id, type: textOf(question["type"]), question: text, value }];
  });
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Of the four kinds only the one that fits the question is there. */
function plainValue(value: Json | undefined): PlainAnswer["value"] | null {
  if (!isJsonObject(value)) return typeof value === "string" || typeof value === "number" ? value : null;
  const { free_response: text, scale, select_one: one, select_many: many } = value;
  if (typeof text === "string") return text;
  if (typeof scale === "number") return scale;
  const chosen = Array.isArray(many) ? many : one === null || one === undefined ? [] : [one];
  return chosen.length === 0 ? null : chosen.map(plainChoice);
}

function plainChoice(choice: Json): PlainChoice {
  const text = isJsonObject(choice) ? textOf(choice["text"]) : textOf(choice);
  return { id: (isJsonObject(choice) ? textOf(choice["id"]) : "") || text, text };
}

/** A value as JSON: several choices as an array of their texts. */
export function answerJson({ value, type }: PlainAnswer): Json {
  if (typeof value !== "object") return value;
  const texts = value.map(({ text }) => text);
  return type === "select_many" || texts.length > 1 ? texts : (texts[0] ?? null);
}

/** Between choices in one cell. */
export const CHOICE_SEPARATOR = "; ";

/** A value as one text. */
export function answerText({ value }: PlainAnswer): string {
  return typeof value === "object" ? value.map(({ text }) => text).join(CHOICE_SEPARATOR) : String(value);
}

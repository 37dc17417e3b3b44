/** Reads additional answers (section 2) from any server. */
import { isJsonObject, type Json } from "../json.ts";

export interface PlainAnswer {
  /** The question's id, or its text if it has none. */
  readonly id: string;
  readonly type: string;
  readonly question: string;
  readonly value: string | number | readonly PlainChoice[];
}

interface PlainChoice {
  readonly id: string;
  readonly text: string;
}

interface ResponseAnswers {
  readonly additional_answers?: unknown;
}

export function plainAnswers({ additional_answers: answers }: ResponseAnswers): readonly PlainAnswer[] {
  if (!Array.isArray(answers)) return [];
  return answers.flatMap((answer: unknown): PlainAnswer[] => {
    if (!isJsonObject(answer)) return [];
    const question = isJsonObject(answer["question"]) ? answer["question"] : {};
    const text = choiceText(question["text"]);
    const value = plainValue(answer["value"]);
    const id = choiceText(question["id"]) || text;
    return value === null || id === "" ? [] : [{ id, type: choiceText(question["type"]), question: text, value }];
  });
}

function choiceText(value: Json | undefined): string {
  return typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Only the field that fits the question's type is set. */
function plainValue(value: Json | undefined): PlainAnswer["value"] | null {
  if (!isJsonObject(value)) return typeof value === "string" || typeof value === "number" ? value : null;
  const { free_response: text, scale, select_one: one, select_many: many } = value;
  if (typeof text === "string") return text;
  if (typeof scale === "number") return scale;
  const chosen = Array.isArray(many) ? many : one === null || one === undefined ? [] : [one];
  return chosen.length === 0 ? null : chosen.map(plainChoice);
}

function plainChoice(choice: Json): PlainChoice {
  const text = isJsonObject(choice) ? choiceText(choice["text"]) : choiceText(choice);
  return { id: (isJsonObject(choice) ? choiceText(choice["id"]) : "") || text, text };
}

export function answerJson({ value, type }: PlainAnswer): Json {
  if (typeof value !== "object") return value;
  const texts = value.map(({ text }) => text);
  return type === "select_many" || texts.length > 1 ? texts : (texts[0] ?? null);
}

export const CHOICE_SEPARATOR = "; ";

export function answerText({ value }: PlainAnswer): string {
  return typeof value === "object" ? value.map(({ text }) => text).join(CHOICE_SEPARATOR) : String(value);
}

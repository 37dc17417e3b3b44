import { type Json, plainText } from "../../../contract/json.ts";
import { CHOICE_SEPARATOR } from "../../../contract/questions/additional-answers.ts";
import type { NumberSpan } from "../../../contract/questions/questions.ts";
import type { AdditionalAnswer, Choice } from "../../../contract/resources.ts";
import type { TextsByQuestion } from "../inputs.ts";
import type { Question } from "../questions/question-rows.ts";

/** Reads answers from JSON values. Values other than strings and lists become JSON text; blank ones are omitted. */
export function readAnswerTexts(values: Readonly<Record<string, Json>>): TextsByQuestion {
  return Object.fromEntries(
    Object.entries(values).map(([id, value]) => [
      id,
      Array.isArray(value) ? value.map(plainText).filter(isGiven) : plainText(value),
    ]),
  );
}

function isGiven(text: string): boolean {
  return text.trim() !== "";
}

/** Ordered like the project's questions. An answer that doesn't fit its question is kept as text. */
export function toAdditionalAnswers(
  questions: readonly Question[],
  texts: TextsByQuestion,
  responseId: number | string,
): AdditionalAnswer[] {
  const places = new Map(questions.map(({ id }, at) => [id, at]));
  const place = (id: string): number => places.get(id) ?? questions.length;
  return Object.entries(texts)
    .filter(([, text]) => isGiven(joined(text)))
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([id, text]) => toAnswer(questions.find((question) => question.id === id) ?? null, id, text, responseId));
}

export const NO_VALUE: AdditionalAnswer["value"] = {
  free_response: null,
  scale: null,
  select_one: null,
  select_many: null,
};

function joined(text: TextsByQuestion[string]): string {
  return typeof text === "string" ? text : text.join(CHOICE_SEPARATOR);
}

function toAnswer(
  question: Question | null,
  id: string,
  text: TextsByQuestion[string],
  responseId: number | string,
): AdditionalAnswer {
  const value = toValue(question, text);
  const type = question === null || "free_response" in value ? "free_response" : question.type;
  return {
    id: `${responseId}-${id}`,
    value: { ...NO_VALUE, ...value },
    question: { id, type, text: question?.text ?? id },
  };
}

function toValue(question: Question | null, given: TextsByQuestion[string]): Partial<AdditionalAnswer["value"]> {
  const text = joined(given);
  if (question?.scale && isOnScale(question.scale, text)) return { scale: Number(text) };
  if (question?.type === "select_one") return { select_one: toChoice(question, text) };
  if (question?.type !== "select_many") return { free_response: text };
  const parts = typeof given === "string" ? splitChoices(question, given) : given;
  return { select_many: parts.filter(isGiven).map((part) => toChoice(question, part)) };
}

export function isOnScale({ from, to }: NumberSpan, text: string): boolean {
  return /^\s*\d{1,2}\s*$/.test(text) && Number(text) >= from && Number(text) <= to;
}

/** Choices can contain the separator, so the longest match wins. */
function splitChoices({ choices, texts }: Question, text: string): string[] {
  const words = Object.values(texts).flatMap((there) => Object.values(there.choices));
  const known = [...choices.flatMap((choice) => [choice.text, choice.id]), ...words].toSorted(
    (one, other) => other.length - one.length,
  );
  const parts: string[] = [];
  for (let rest = text; rest !== "";) {
    const whole = known.find((name) => `${rest}${CHOICE_SEPARATOR}`.startsWith(`${name}${CHOICE_SEPARATOR}`));
    const part = whole ?? rest.split(CHOICE_SEPARATOR, 1)[0] ?? "";
    parts.push(part);
    rest = rest.slice(part.length + CHOICE_SEPARATOR.length);
  }
  return parts;
}

function toChoice({ choices, texts }: Question, text: string): Choice {
  const wanted = text.trim();
  const found = choices.find(
    (choice) =>
      choice.text === wanted ||
      choice.id === wanted ||
      Object.values(texts).some((there) => there.choices[choice.id] === wanted),
  );
  if (found === undefined) return { id: wanted, text: wanted };
  return found.id === wanted ? found : { id: found.id, text: wanted };
}

/** Answers that files hold as one text for each question, as an export writes them. */
import { CHOICE_SEPARATOR } from "../../../contract/questions/additional-answers.ts";
import type { AdditionalAnswer, Choice } from "../../../contract/resources.ts";
import type { Question } from "./rows.ts";

/** A text by the question's id. */
export type TextByQuestion = Readonly<Record<string, string>>;

/**
 * The answers in the API's form, those of the project's own questions in their order first. What is saved is kept: a
 * question that the project does not have is a free one with its id as its text, and a text that its question does not
 * know stays as it is.
 */
export function toAdditionalAnswers(
  questions: readonly Question[],
  texts: TextByQuestion,
  responseId: number | string,
): AdditionalAnswer[] {
  const places = new Map(questions.map(({ id }, at) => [id, at]));
  const place = (id: string): number => places.get(id) ?? questions.length;
  return Object.entries(texts)
    .filter(([, text]) => text.trim() !== "")
    .toSorted(([one], [other]) => place(one) - place(other))
    .map(([id, text]) => toAnswer(questions.find((question) => question.id === id) ?? null, id, text, responseId));
}

const NO_VALUE: AdditionalAnswer["value"] = { free_response: null, scale: null, select_one: null, select_many: null };

function toAnswer(question: Question | null, id: string, text: string, responseId: number | string): AdditionalAnswer {
  return {
    id: `${responseId}-${id}`,
    value: { ...NO_VALUE, ...toValue(question, text) },
    question: { id, type: question?.type ?? "free_response", text: question?.text ?? id },
  };
}

function toValue(question: Question | null, text: string): Partial<AdditionalAnswer["value"]> {
  if (question?.type === "scale" && /^\s*\d{1,2}\s*$/.test(text)) return { scale: Number(text) };
  if (question?.type === "select_one") return { select_one: toChoice(question, text) };
  if (question?.type !== "select_many") return { free_response: text };
  return { select_many: text.split(CHOICE_SEPARATOR).map((part) => toChoice(question, part)) };
}

/** By its text in any language, or by its id. */
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

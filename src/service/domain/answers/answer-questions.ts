import type { Locale } from "../../../contract/locales.ts";
import { FREE_RESPONSE_MAX } from "../../../contract/questions/questions.ts";
import type { AdditionalAnswer, Choice } from "../../../contract/resources.ts";
import { characterCount } from "../../../contract/limits.ts";
import { changeResponse } from "./response-changes.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { ResponseRow, Transaction } from "../ports.ts";
import { noteEvent } from "../webhooks/events.ts";
import { activeQuestions } from "../questions/questions.ts";
import { isOnScale, NO_VALUE } from "./answer-texts.ts";
import type { Question } from "../questions/question-rows.ts";

export interface AskedQuestion extends Pick<Question, "id" | "type" | "scale"> {
  readonly text: string;
  readonly choices: readonly Choice[];
}

export async function questionsFor(
  tx: Transaction,
  project: Project,
  { score, locale }: { readonly score: number; readonly locale: Locale },
): Promise<readonly AskedQuestion[]> {
  const asked = activeQuestions(await tx.questions.list(project.id)).filter(
    ({ to }) => to === null || to.some((span) => score >= span.from && score <= span.to),
  );
  return asked.map((question) => inLocale(question, locale));
}

function inLocale({ id, type, scale, text, choices, texts }: Question, locale: Locale): AskedQuestion {
  const there = texts[locale];
  return {
    id,
    type,
    scale,
    text: there?.text ?? text,
    choices: choices.map((choice) => ({ id: choice.id, text: there?.choices[choice.id] ?? choice.text })),
  };
}

/** Form fields by question id: a text, a number, or ids of choices. Blank fields are not answers. */
export type GivenAnswers = ReadonlyMap<string, readonly string[]>;

export interface AnswerProblem {
  readonly question: string;
  readonly kind: "invalid" | "long";
}

export function findProblem(asked: readonly AskedQuestion[], given: GivenAnswers): AnswerProblem | null {
  for (const question of asked) {
    const value = readValue(question, given.get(question.id) ?? []);
    if (typeof value === "string") return { question: question.id, kind: value };
  }
  return null;
}

type Value = AdditionalAnswer["value"];

/** Returns null if the field is blank, and the kind of problem if the value can't be stored. */
function readValue(question: AskedQuestion, fields: readonly string[]): Value | AnswerProblem["kind"] | null {
  const filled = fields.map((text) => text.trim()).filter((text) => text !== "");
  const [first, ...others] = filled;
  if (first === undefined) return null;
  const { type, choices, scale } = question;
  if (type === "select_many") {
    const chosen = choices.filter(({ id }) => filled.includes(id));
    return chosen.length === new Set(filled).size ? { ...NO_VALUE, select_many: chosen } : "invalid";
  }
  if (others.length > 0) return "invalid";
  if (type === "free_response")
    return characterCount(first) > FREE_RESPONSE_MAX ? "long" : { ...NO_VALUE, free_response: first };
  if (type === "scale")
    return scale !== null && isOnScale(scale, first) ? { ...NO_VALUE, scale: Number(first) } : "invalid";
  const chosen = choices.find(({ id }) => id === first);
  return chosen === undefined ? "invalid" : { ...NO_VALUE, select_one: chosen };
}

/** Replaces the answers to the asked questions and keeps all others. True if any changed. Throws InvalidError. */
export async function storeAnswers(
  tx: Transaction,
  project: Project,
  response: Pick<ResponseRow, "id" | "additionalAnswers">,
  asked: readonly AskedQuestion[],
  given: GivenAnswers,
): Promise<boolean> {
  const old = response.additionalAnswers;
  const ids = new Set(asked.map(({ id }) => id));
  const answered = asked.map((question) => {
    const known = old.find((answer) => answer.question.id === question.id) ?? null;
    const fields = given.get(question.id);
    return fields === undefined ? known : toAnswer(response.id, question, fields, known);
  });
  const answers = [...old.filter(({ question }) => !ids.has(question.id)), ...answered.filter((one) => one !== null)];
  if (JSON.stringify(answers) === JSON.stringify(old)) return false;
  await changeResponse(tx, project.id, response.id, { additionalAnswers: answers, updatedAt: tx.updatedAt });
  await noteEvent(tx, project, { type: "survey_response.updated", responseId: response.id });
  return true;
}

/** An unchanged answer keeps the question's wording from when it was given. */
function toAnswer(
  responseId: number,
  question: AskedQuestion,
  fields: readonly string[],
  known: AdditionalAnswer | null,
): AdditionalAnswer | null {
  const value = readValue(question, fields);
  const { id, type, text } = question;
  if (typeof value === "string") throw new InvalidError({ [`answers[${id}]`]: ["is invalid"] });
  if (value === null) return null;
  if (known !== null && isSameValue(known.value, value)) return known;
  return { id: known?.id ?? `${responseId}-${id}`, value, question: { id, type, text } };
}

function isSameValue(one: Value, other: Value): boolean {
  const keyOf = ({ select_one: chosen, select_many: many, free_response: text, scale }: Value): string =>
    JSON.stringify([text, scale, chosen?.id, many?.map(({ id }) => id)]);
  return keyOf(one) === keyOf(other);
}

export function toFields(answers: readonly AdditionalAnswer[]): GivenAnswers {
  return new Map(
    answers.map(({ question, value }) => {
      const { free_response: text, scale, select_one: one, select_many: many } = value;
      const chosen = [...(one === null ? [] : [one]), ...(many ?? [])].map(({ id }) => id);
      return [question.id, [...(text === null ? [] : [text]), ...(scale === null ? [] : [String(scale)]), ...chosen]];
    }),
  );
}

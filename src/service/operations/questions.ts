import * as v from "valibot";
import { LOCALES } from "../../contract/locales.ts";
import {
  formatSpans,
  type NumberSpan,
  QUESTION_TYPES,
  QUESTIONS_MAX,
  readScale,
  readScores,
  SCALE_FORMS,
  SCORES_FORMS,
} from "../../contract/questions/questions.ts";
import type { Question } from "../domain/ports.ts";
import {
  addQuestion,
  findQuestion,
  moveQuestion,
  retireQuestion,
  translateQuestion,
  wantedTexts,
} from "../domain/questions/questions.ts";
import { fromText, span, typed, wholeNumber } from "./define/fields.ts";
import { defineOperation, orNull } from "./define/operation.ts";

const askedScores = typed<readonly NumberSpan[]>(fromText(readScores), SCORES_FORMS);

export const questionOperations = {
  "question.add": defineOperation({
    access: "write",
    input: {
      text: v.string(),
      type: v.picklist(QUESTION_TYPES),
      choice: v.optional(v.array(v.string()), []),
      scale: orNull(span(readScale, SCALE_FORMS)),
      to: orNull(askedScores),
      id: orNull(v.string()),
    },
    run: async (tx, project, { id, choice: choices, ...question }) =>
      toInfo(await addQuestion(tx, project, { ...question, choices, ...(id !== null && { id }) })),
  }),
  "question.list": defineOperation({
    access: "read",
    run: async (tx, project) => (await tx.questions.list(project.id)).map(toInfo),
  }),
  "question.show": defineOperation({
    access: "read",
    input: { id: v.string() },
    run: async (tx, project, { id }) => toShown(await findQuestion(tx, project, id)),
  }),
  /** Positions start at 1. */
  "question.move": defineOperation({
    access: "write",
    input: { id: v.string(), to: wholeNumber(1, QUESTIONS_MAX) },
    run: async (tx, project, { id, to }) => toInfo(await moveQuestion(tx, project, id, to)),
  }),
  "question.retire": defineOperation({
    access: "write",
    input: { id: v.string() },
    confirm: async (tx, project, { id }) => {
      const { text, retiredAt } = await findQuestion(tx, project, id);
      if (retiredAt !== null) return null;
      return { question: `Retire question "${text}"? It is asked no more; its answers stay.`, id, text };
    },
    run: async (tx, project, { id }) => toInfo(await retireQuestion(tx, project, id)),
  }),
  /** An empty string without choices clears the translation. */
  "question.text": defineOperation({
    access: "write",
    input: {
      id: v.string(),
      locale: v.picklist(LOCALES),
      text: v.string(),
      choice: v.optional(v.array(v.string()), []),
    },
    run: async (tx, project, { id, locale, text, choice: choices }) => {
      const texts = text === "" && choices.length === 0 ? null : { text, choices };
      return toShown(await translateQuestion(tx, project, id, { locale, texts }));
    },
  }),
};

function toInfo({ id, type, text, choices, scale, to, position, retiredAt }: Question) {
  const scores = to === null ? null : formatSpans(to);
  return { id, type, text, choices, scale, to: scores, position, retired_at: retiredAt };
}

function toShown(question: Question) {
  return { ...toInfo(question), texts: wantedTexts(question) };
}

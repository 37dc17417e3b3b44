/** The commands about questions beyond the score, on an open store. */
import { formatSpans } from "../../../contract/questions/questions.ts";
import type { Question, Store } from "../../domain/ports.ts";
import {
  addQuestion,
  findQuestion,
  listQuestions,
  moveQuestion,
  retireQuestion,
  translateQuestion,
  wantedTexts,
} from "../../domain/questions/questions.ts";
import type { Handlers } from "../commands.ts";
import { readInProject, writeInProject } from "../in-project.ts";
import type { QuestionCommand, QuestionInfo, ShownQuestion } from "./commands.ts";

export interface QuestionAdminOptions {
  readonly store: Store;
}

export function createQuestionHandlers({ store }: QuestionAdminOptions): Pick<Handlers, QuestionCommand["kind"]> {
  return {
    "question.add": ({ project, question }) =>
      writeInProject(store, project, async (tx, found) => toInfo(await addQuestion(tx, found, question))),
    "question.list": ({ project }) =>
      readInProject(store, project, async (tx, found) => (await listQuestions(tx, found)).map(toInfo)),
    "question.show": ({ project, id }) =>
      readInProject(store, project, async (tx, found) => toShown(await findQuestion(tx, found, id))),
    "question.move": ({ project, id, to }) =>
      writeInProject(store, project, async (tx, found) => toInfo(await moveQuestion(tx, found, id, to))),
    "question.retire": ({ project, id }) =>
      writeInProject(store, project, async (tx, found) => toInfo(await retireQuestion(tx, found, id))),
    "question.text": ({ project, id, locale, texts }) =>
      writeInProject(store, project, async (tx, found) =>
        toShown(await translateQuestion(tx, found, id, { locale, texts })),
      ),
  };
}

function toInfo({ id, type, text, choices, scale, to, position, retiredAt }: Question): QuestionInfo {
  const scores = to === null ? null : formatSpans(to);
  return { id, type, text, choices, scale, to: scores, position, retired_at: retiredAt };
}

function toShown(question: Question): ShownQuestion {
  return { ...toInfo(question), texts: wantedTexts(question) };
}

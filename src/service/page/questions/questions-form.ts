/**
 * The fields of the questions that follow the score: `answers[ID]`, repeated for several choices. An empty choice sends
 * nothing, so `asked` names each question that the form had.
 */
import {
  type AnswerProblem,
  type AskedQuestion,
  findProblem,
  type GivenAnswers,
} from "../../domain/questions/answer-questions.ts";
import { type AnswerForm, FORM_MAX, readForm } from "../answer-form.ts";

const FIELD = /^answers\[([a-z0-9_-]{1,40})\](?:\[\])?$/;

export interface PageForm {
  readonly form: AnswerForm;
  readonly answers: GivenAnswers;
}

/** The fields that were sent. `stored` is the score that a form of further answers alone is about. */
export function readPageForm(body: Uint8Array, stored: number | null): PageForm {
  const answers = readAnswers(body);
  return { answers, form: readForm(body, answers.size > 0 ? stored : null) };
}

function readAnswers(body: Uint8Array): GivenAnswers {
  const given = new Map<string, string[]>();
  for (const [name, value] of new URLSearchParams(new TextDecoder().decode(body))) {
    const id = name === "asked" ? value : FIELD.exec(name)?.[1];
    if (id === undefined || id === "") continue;
    const values = given.get(id) ?? [];
    given.set(id, values);
    if (name !== "asked") values.push(value.replaceAll("\0", "").replaceAll(/\r\n?/g, "\n"));
  }
  return given;
}

/** The first fault of a form; of one that is too large as a whole, its longest answer. */
export function findFormProblem(
  asked: readonly AskedQuestion[],
  given: GivenAnswers,
  body: Uint8Array,
): AnswerProblem | null {
  const found = findProblem(asked, given);
  if (found !== null || body.byteLength <= FORM_MAX) return found;
  const lengthOf = ({ id }: AskedQuestion): number => (given.get(id) ?? []).join("").length;
  const [longest] = asked.toSorted((one, other) => lengthOf(other) - lengthOf(one));
  return longest === undefined ? null : { question: longest.id, kind: "long" };
}

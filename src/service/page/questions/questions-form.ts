/**
 * The fields are `answers[ID]`, repeated for several choices. An empty choice sends nothing, so `asked` names each
 * question of the form.
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

/** `stored` is the score of a form without one. */
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

/** If the form as a whole is too large, its longest answer. */
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

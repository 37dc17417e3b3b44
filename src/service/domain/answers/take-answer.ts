import type { Locale } from "../../../contract/locales.ts";
import type { AdditionalAnswer } from "../../../contract/resources.ts";
import type { Project } from "../inputs.ts";
import type { Store, Transaction } from "../ports.ts";
import {
  type AnswerProblem,
  type AskedQuestion,
  findProblem,
  type GivenAnswers,
  questionsFor,
  storeAnswers,
} from "./answer-questions.ts";

export interface AnswerForm {
  readonly score: number;
  readonly locale: Locale;
  readonly answers: GivenAnswers;
  /** True if the form is larger than anyone could have filled in. */
  readonly isTooLarge: boolean;
}

export interface KeptAnswer {
  readonly responseId: number;
  readonly score: number;
  readonly mayChange: boolean;
}

export interface AnswerSteps {
  readonly project: Project;
  /**
   * Counts the answer against the rate limit. Returns 0 if the answer is accepted, otherwise how many seconds to wait.
   */
  readonly wait: () => number;
  readonly store: (tx: Transaction) => Promise<KeptAnswer>;
}

export type TakenAnswer = { readonly asked: readonly AskedQuestion[] } & (
  | { readonly kind: "wrong"; readonly problem: AnswerProblem }
  | { readonly kind: "busy"; readonly seconds: number }
  | { readonly kind: "stored"; readonly answer: KeptAnswer; readonly further: readonly AdditionalAnswer[] }
);

/** If the form has a mistake, nothing is counted or stored. */
export async function takeAnswer(store: Store, form: AnswerForm, steps: AnswerSteps): Promise<TakenAnswer> {
  const { project } = steps;
  const asked = await store.read((tx) => questionsFor(tx, project, form));
  const problem = findProblem(asked, form.answers) ?? (form.isTooLarge ? longestAnswer(asked, form.answers) : null);
  if (problem !== null) return { kind: "wrong", asked, problem };
  const seconds = steps.wait();
  if (seconds > 0) return { kind: "busy", asked, seconds };
  return store.write(
    async (tx) => {
      const answer = await steps.store(tx);
      const response = answer.mayChange ? await tx.responses.byId(project.id, answer.responseId) : null;
      if (response !== null) await storeAnswers(tx, project, response, asked, form.answers);
      return { kind: "stored", asked, answer, further: response?.additionalAnswers ?? [] };
    },
    { project: project.id },
  );
}

function longestAnswer(asked: readonly AskedQuestion[], given: GivenAnswers): AnswerProblem | null {
  const lengthOf = ({ id }: AskedQuestion): number => (given.get(id) ?? []).join("").length;
  const [longest] = asked.toSorted((one, other) => lengthOf(other) - lengthOf(one));
  return longest === undefined ? null : { question: longest.id, kind: "long" };
}

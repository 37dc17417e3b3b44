import { QUESTIONS_MAX } from "../../../contract/questions/questions.ts";
import { InvalidError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import type { WantedQuestion, WantedTranslation } from "./check-question.ts";
import {
  activeQuestions,
  addQuestion,
  changeQuestion,
  orderQuestions,
  retireQuestion,
  wantedTexts,
} from "./questions.ts";
import type { Question } from "./question-rows.ts";

export interface ConfiguredQuestion extends WantedQuestion {
  readonly id: string;
  readonly texts: Readonly<Record<string, WantedTranslation>>;
}

/** Omitted fields keep their value. */
export type ConfigurableQuestion = Pick<WantedQuestion, "type" | "text"> & Partial<WantedQuestion>;

export async function configuredQuestions(tx: Transaction, project: Project): Promise<readonly ConfiguredQuestion[]> {
  return activeQuestions(await tx.questions.list(project.id)).map(toConfigured);
}

function toConfigured(question: Question): ConfiguredQuestion {
  const { id, type, text, choices, scale, to } = question;
  return { id, type, text, choices: choices.map((choice) => choice.text), scale, to, texts: wantedTexts(question) };
}

const NEW: Pick<WantedQuestion, "choices" | "scale" | "to"> = { choices: [], scale: null, to: null };

/** Makes these the only active questions, in this order. `place` adds a question's position to errors. */
export async function applyQuestions(
  tx: Transaction,
  project: Project,
  wanted: readonly ConfigurableQuestion[],
  place: (index: number, work: () => Promise<void>) => Promise<void>,
): Promise<void> {
  if (wanted.length > QUESTIONS_MAX)
    throw new InvalidError({ questions: [`can't be more than ${QUESTIONS_MAX} (got ${wanted.length})`] });
  const left = [...activeQuestions(await tx.questions.list(project.id))];
  const found = wanted.map(({ id, text }) => {
    const at = left.findIndex((each) => (id === undefined ? each.text === text.trim() : each.id === id));
    return at < 0 ? undefined : left.splice(at, 1)[0];
  });
  for (const { id } of left) await retireQuestion(tx, project, id);
  const ids: string[] = [];
  for (const [index, question] of wanted.entries())
    await place(index, async () => {
      ids.push(await applyOne(tx, project, found[index], question));
    });
  await orderQuestions(tx, project, ids);
}

async function applyOne(
  tx: Transaction,
  project: Project,
  old: Question | undefined,
  wanted: ConfigurableQuestion,
): Promise<string> {
  if (old === undefined) return (await addQuestion(tx, project, { ...NEW, ...wanted })).id;
  const { texts: _, ...kept } = toConfigured(old);
  await changeQuestion(tx, project, old, { ...kept, ...wanted });
  return old.id;
}

/** Follow-up questions are retired instead of deleted. */
import type { Locale } from "../../../contract/locales.ts";
import { QUESTIONS_MAX } from "../../../contract/questions/questions.ts";
import type { Choice } from "../../../contract/resources.ts";
import { alreadyExists, InvalidError, NotFoundError } from "../errors.ts";
import type { Project } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { checkQuestion, checkTranslation, type WantedQuestion, type WantedTranslation } from "./check-question.ts";
import type { Question, QuestionTranslation } from "./question-rows.ts";

export function activeQuestions(questions: readonly Question[]): readonly Question[] {
  return questions.filter(({ retiredAt }) => retiredAt === null);
}

export async function findQuestion(tx: Transaction, project: Project, id: string): Promise<Question> {
  const found = (await tx.questions.list(project.id)).find((question) => question.id === id);
  if (found === undefined) throw new NotFoundError(`project ${project.name} has no question ${id}`);
  return found;
}

async function findActive(tx: Transaction, project: Project, id: string): Promise<Question> {
  const found = await findQuestion(tx, project, id);
  if (found.retiredAt !== null) throw new InvalidError({ [`question ${id}`]: ["is retired"] });
  return found;
}

export async function addQuestion(tx: Transaction, project: Project, wanted: WantedQuestion): Promise<Question> {
  checkQuestion(wanted);
  const all = await tx.questions.list(project.id);
  const known = all.find(({ id }) => id === wanted.id);
  if (known?.retiredAt === null) throw alreadyExists("a question with id", "id", known.id);
  if (known !== undefined) throw new InvalidError({ id: ["was that of a retired question and is not used again"] });
  const active = activeQuestions(all).length;
  if (active >= QUESTIONS_MAX)
    throw new InvalidError({ questions: [`can't be more than ${QUESTIONS_MAX}; retire one first`] });
  const { type, text, scale, to } = wanted;
  const chosen = nameChoices(wanted.choices, NO_CHOICES);
  const question: Question = {
    id: wanted.id ?? nextId(all),
    type,
    text: text.trim(),
    ...chosen,
    scale,
    to,
    texts: toTranslations(wanted.texts ?? {}, chosen.choices),
    position: active + 1,
    retiredAt: null,
  };
  await tx.questions.save(project.id, question);
  return question;
}

/** Returns `q4` after `q3`, even if `q3` is retired. */
function nextId(questions: readonly Question[]): string {
  const numbers = questions.map(({ id }) => Number(/^q([1-9]\d{0,8})$/.exec(id)?.[1] ?? 0));
  return `q${Math.max(0, ...numbers) + 1}`;
}

type Chosen = Pick<Question, "choices" | "lastChoice">;
const NO_CHOICES: Chosen = { choices: [], lastChoice: 0 };

/** A choice keeps its id if its text is unchanged or was reworded in place; any other gets a new id. */
function nameChoices(texts: readonly string[], old: Chosen): Chosen {
  const wanted = texts.map((text) => text.trim());
  let { lastChoice } = old;
  const choices = wanted.map((text, at): Choice => {
    const same = old.choices.find((choice) => choice.text === text);
    const inPlace = old.choices[at];
    const reworded = inPlace === undefined || wanted.includes(inPlace.text) ? undefined : inPlace;
    const id = (same ?? reworded)?.id;
    if (id !== undefined) return { id, text };
    lastChoice += 1;
    return { id: `c${lastChoice}`, text };
  });
  return { choices, lastChoice };
}

function toTranslations(
  texts: Readonly<Record<string, WantedTranslation>>,
  choices: readonly Choice[],
): Question["texts"] {
  return Object.fromEntries(Object.entries(texts).map(([locale, given]) => [locale, toTranslation(given, choices)]));
}

function toTranslation({ text, choices: given }: WantedTranslation, choices: readonly Choice[]): QuestionTranslation {
  return {
    text: text.trim(),
    choices: Object.fromEntries(choices.map(({ id }, at) => [id, (given[at] ?? "").trim()])),
  };
}

export function wantedTexts({ choices, texts }: Question): Readonly<Record<string, WantedTranslation>> {
  return Object.fromEntries(
    Object.entries(texts).map(([locale, given]) => [
      locale,
      { text: given.text, choices: choices.map(({ id, text }) => given.choices[id] ?? text) },
    ]),
  );
}

/** Positions start at 1; one beyond the end means last. Throws NotFoundError, InvalidError. */
export async function moveQuestion(tx: Transaction, project: Project, id: string, to: number): Promise<Question> {
  const moved = await findActive(tx, project, id);
  const others = activeQuestions(await tx.questions.list(project.id)).filter((question) => question.id !== id);
  await saveInOrder(tx, project, [...others.slice(0, to - 1), moved, ...others.slice(to - 1)]);
  return findQuestion(tx, project, id);
}

async function saveInOrder(tx: Transaction, project: Project, questions: readonly Question[]): Promise<void> {
  for (const [at, question] of questions.entries())
    if (question.position !== at + 1) await tx.questions.save(project.id, { ...question, position: at + 1 });
}

/** The question's answers stay, and its id isn't reused. Throws NotFoundError, InvalidError. */
export async function retireQuestion(tx: Transaction, project: Project, id: string): Promise<Question> {
  const question = await findActive(tx, project, id);
  const retired = { ...question, position: null, retiredAt: tx.now };
  await tx.questions.save(project.id, retired);
  await saveInOrder(tx, project, activeQuestions(await tx.questions.list(project.id)));
  return retired;
}

/** Null removes the translation. Throws NotFoundError, InvalidError. */
export async function translateQuestion(
  tx: Transaction,
  project: Project,
  id: string,
  { locale, texts }: { readonly locale: Locale; readonly texts: WantedTranslation | null },
): Promise<Question> {
  const question = await findActive(tx, project, id);
  const { [locale]: _, ...others } = question.texts;
  if (texts !== null) checkTranslation(locale, texts, question.choices.length);
  const added = texts === null ? {} : { [locale]: toTranslation(texts, question.choices) };
  const translated = { ...question, texts: { ...others, ...added } };
  await tx.questions.save(project.id, translated);
  return translated;
}

export async function changeQuestion(
  tx: Transaction,
  project: Project,
  old: Question,
  wanted: WantedQuestion,
): Promise<void> {
  if (wanted.type !== old.type)
    throw new InvalidError({ type: [`can't change from ${old.type}; retire the question and make another`] });
  checkQuestion(wanted);
  const chosen = nameChoices(wanted.choices, old);
  const { text, scale, to } = wanted;
  const texts = wanted.texts === undefined ? old.texts : toTranslations(wanted.texts, chosen.choices);
  await tx.questions.save(project.id, { ...old, text: text.trim(), ...chosen, scale, to, texts });
}

export async function orderQuestions(tx: Transaction, project: Project, ids: readonly string[]): Promise<void> {
  const active = new Map(
    activeQuestions(await tx.questions.list(project.id)).map((question) => [question.id, question]),
  );
  await saveInOrder(
    tx,
    project,
    ids.flatMap((id) => active.get(id) ?? []),
  );
}

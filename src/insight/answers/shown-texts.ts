/** Names of questions and choices, which may have been shown with several texts. */
import type { PlainAnswer } from "../../contract/questions/additional-answers.ts";

/** How often each text was shown, by question, or by question and choice. */
export type ShownTexts = Map<string, Map<string, number>>;

export function countTexts(texts: ShownTexts, { id, question, value }: PlainAnswer): void {
  addText(texts, id, question, 1);
  if (typeof value !== "object") return;
  for (const [choice, { text }] of new Map(value.map((one) => [one.id, one])))
    addText(texts, keyOf(id, choice), text, 1);
}

export function mergeTexts(texts: ShownTexts, more: ShownTexts): void {
  for (const [key, counts] of more) for (const [text, count] of counts) addText(texts, key, text, count);
}

export function nameOfQuestion(texts: ShownTexts, question: string): string {
  return mostShown(texts.get(question)) ?? "";
}

/** The choice's most shown text; a number is its own name. */
export function nameOfChoice(texts: ShownTexts, question: string, choice: string): string {
  return mostShown(texts.get(keyOf(question, choice))) ?? choice;
}

function keyOf(question: string, choice: string): string {
  return JSON.stringify([question, choice]);
}

function addText(texts: ShownTexts, key: string, text: string, count: number): void {
  const counts = texts.get(key) ?? new Map<string, number>();
  texts.set(key, counts);
  counts.set(text, (counts.get(text) ?? 0) + count);
}

function mostShown(counts: ReadonlyMap<string, number> = new Map()): string | undefined {
  const [most] = [...counts].toSorted(([, one], [, other]) => other - one);
  return most?.[0];
}

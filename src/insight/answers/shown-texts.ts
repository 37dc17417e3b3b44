import type { PlainAnswer } from "../../contract/questions/additional-answers.ts";

/** How often each text was shown, by question, or by question and choice. */
export type ShownTexts = Map<string, Map<string, number>>;

export function countTexts(texts: ShownTexts, { id, question, value }: PlainAnswer): void {
  addText(texts, id, question, 1);
  if (typeof value !== "object") return;
  for (const [choice, { text }] of new Map(value.map((one) => [one.id, one])))
    addText(texts, choiceKey(id, choice), text, 1);
}

export function mergeTexts(texts: ShownTexts, more: ShownTexts): void {
  for (const [key, counts] of more) for (const [text, count] of counts) addText(texts, key, text, count);
}

export function questionName(texts: ShownTexts, question: string): string {
  return mostShown(texts.get(question)) ?? "";
}

export function choiceName(texts: ShownTexts, question: string, choice: string): string {
  return mostShown(texts.get(choiceKey(question, choice))) ?? choice;
}

function choiceKey(question: string, choice: string): string {
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

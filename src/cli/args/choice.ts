import { UsageError } from "../errors/usage-error.ts";
import { suggest } from "./suggest.ts";

/** One of a closed list. Throws UsageError with the list and the nearest of it. */
export function parseChoice<Choice extends string>(text: string, place: string, choices: readonly Choice[]): Choice {
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  const nearest = suggest(text, choices);
  throw new UsageError(
    `${place}: ${JSON.stringify(text)} is not one of ${choices.join(", ")}`,
    nearest === null ? {} : { hint: `did you mean ${nearest}?` },
  );
}

/** Several of a closed list, with commas or repeated; each once, in the order given. */
export function parseChoices<Choice extends string>(
  texts: readonly string[],
  place: string,
  choices: readonly Choice[],
): Choice[] {
  const words = texts.flatMap((text) => text.split(",")).map((word) => word.trim());
  return [...new Set(words.map((word) => parseChoice(word, place, choices)))];
}

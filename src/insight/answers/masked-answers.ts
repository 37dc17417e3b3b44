import type { JsonObject } from "../../contract/json.ts";
import { createMasker } from "../redact.ts";
import { createAnswerTally } from "./answer-tally.ts";

const WORD_ANSWERS_MIN = 5;

export function createMaskedAnswers({ personal }: { readonly personal: boolean }) {
  const [tally, masker] = [createAnswerTally(), createMasker()];
  return {
    add: (row: JsonObject): void => tally.add(personal ? row : masker.row(row, toAnswered)),
    results: () => tally.results(WORD_ANSWERS_MIN),
  };
}

function toAnswered({ id = null, score = null, additional_answers: answers = null }: JsonObject): JsonObject {
  return { id, score, additional_answers: answers };
}

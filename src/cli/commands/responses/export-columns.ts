/** The columns that `--flatten` adds to responses: each property, and each additional question by its text. */
import { isJsonObject, type Json, type JsonObject } from "../../../contract/json.ts";
import { propertyColumn } from "../../render/columns.ts";
import type { FlatColumns } from "../../export/request.ts";

const PROPERTY = "p";
const QUESTION = "q";

export const RESPONSE_FLAT_COLUMNS: FlatColumns = {
  find: (row) => [
    ...Object.keys(isJsonObject(row.person_properties) ? row.person_properties : {}).map((key) => PROPERTY + key),
    ...answersOf(row).map((answer) => QUESTION + questionOf(answer)),
  ],
  column(found) {
    const name = found.slice(1);
    if (found.startsWith(PROPERTY)) return propertyColumn("person_properties", name);
    return { name: `additional_answers.${name}`, kind: "text", read: (row) => readAnswer(row, name) };
  },
};

function answersOf({ additional_answers: answers }: JsonObject): JsonObject[] {
  return Array.isArray(answers) ? answers.filter(isJsonObject) : [];
}

function questionOf({ question }: JsonObject): string {
  return isJsonObject(question) && typeof question.text === "string" ? question.text : "";
}

function readAnswer(row: JsonObject, question: string): Json | undefined {
  const answer = answersOf(row).find((candidate) => questionOf(candidate) === question);
  return answer === undefined ? undefined : toPlainAnswer(answer.value);
}

/** Of the four kinds of value only the one that fits the question is there (section 2). */
function toPlainAnswer(value: Json | undefined): Json | undefined {
  if (!isJsonObject(value)) return value;
  const { free_response: text, scale, select_one: one, select_many: many } = value;
  if (Array.isArray(many) && many.length > 0) return many.map(choiceText).join("; ");
  return text ?? scale ?? (one === null || one === undefined ? undefined : choiceText(one));
}

function choiceText(choice: Json): string {
  if (isJsonObject(choice) && typeof choice.text === "string") return choice.text;
  return typeof choice === "string" ? choice : JSON.stringify(choice);
}

/** Rows of Segment's table `survey_question_answered`: each is the answer to one question of a survey. */
import type { Json } from "../../contract/json.ts";
import type { HistoryField } from "./columns.ts";
import { plainText } from "./shape.ts";

/** The questions whose answers are the score and the comment; any other is an additional one. */
const [SCORE, COMMENT] = ["score", "comment"];

/** The part of a response that a row brings; null for the row of its score, and for one that names no question. */
export function toOtherAnswer(fields: ReadonlyMap<HistoryField, Json>): {
  readonly stream: "comments" | "answers";
  readonly fields: ReadonlyMap<HistoryField, Json>;
} | null {
  const question = plainText(fields.get("question_id")).trim().toLowerCase();
  if (question === "" || question === SCORE) return null;
  const isComment = question === COMMENT;
  const part = new Map<HistoryField, Json>([
    ["response_id", fields.get("id") ?? null],
    [isComment ? "comment" : "free_response", fields.get("score") ?? null],
  ]);
  for (const name of ["created_at", "question_id", "text"] as const) part.set(name, fields.get(name) ?? null);
  return { stream: isComment ? "comments" : "answers", fields: part };
}

import type { Json } from "../../contract/json.ts";
import type { HistoryField } from "./columns.ts";
import { plainText } from "./shape.ts";

const [SCORE, COMMENT] = ["score", "comment"];

/** Null for the row of the score, and for a row without a question. */
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

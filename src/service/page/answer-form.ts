import { characterCount, SCORE_MAX, SCORE_MIN } from "../../contract/limits.ts";
import { isToken } from "./page-request.ts";
import type { FormView } from "./survey-page.ts";

/** Null unless the link names exactly one score. */
export function linkedScore(query: string, rest: string): number | null {
  const named = new URLSearchParams(query).getAll("score");
  return readScore(rest) ?? (named.length === 1 ? readScore(named[0] ?? "") : null);
}

export function readScore(text: string): number | null {
  const score = /^\d{1,2}$/.test(text) ? Number(text) : Number.NaN;
  return score >= SCORE_MIN && score <= SCORE_MAX ? score : null;
}

export type AnswerForm = Pick<FormView, "score" | "comment" | "problem"> & {
  readonly by: "script" | "button";
  /** The field was there, possibly empty. */
  readonly hasComment: boolean;
};

/** Characters; a longer comment is refused and shown again. */
const COMMENT_MAX = 5000;
/** Bytes of the longest comment in any script, as a form field. */
export const FORM_MAX = 64 * 1024;

/** `stored` is the score of a form without one. */
export function readForm(body: Uint8Array, stored: number | null): AnswerForm {
  const fields = fieldsOf(body);
  const scores = fields.getAll("score");
  const score = scores.length === 0 ? stored : scores.length === 1 ? readScore(scores[0] ?? "") : null;
  const comment = (fields.get("comment") ?? "").replaceAll("\0", "").replaceAll(/\r\n?/g, "\n");
  const isLong = characterCount(comment) > COMMENT_MAX || (body.byteLength > FORM_MAX && scores.length > 0);
  return {
    score,
    comment,
    hasComment: fields.has("comment"),
    by: fields.get("by") === "script" ? "script" : "button",
    problem: score === null ? { kind: "score" } : isLong ? { kind: "comment", max: COMMENT_MAX } : null,
  };
}

export function readVisit(body: Uint8Array): string | null {
  const visit = fieldsOf(body).get("visit") ?? "";
  return isToken(visit) ? visit : null;
}

function fieldsOf(body: Uint8Array): URLSearchParams {
  return new URLSearchParams(new TextDecoder().decode(body));
}

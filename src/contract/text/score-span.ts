import { SCORE_MAX } from "../limits.ts";

export interface ScoreSpan {
  readonly from: number;
  readonly to: number;
}

export const SCORE_SPAN_FORM = `a score or a range of scores, from 0 to ${SCORE_MAX}, such as 0-6`;

export function readScoreSpan(text: string): ScoreSpan | null {
  const [, first = "", last = first] = /^\s*(\d{1,2})\s*(?:-\s*(\d{1,2})\s*)?$/.exec(text) ?? [];
  const [from, to] = [Number(first), Number(last)];
  return first === "" || from > to || to > SCORE_MAX ? null : { from, to };
}

export function formatScoreSpan({ from, to }: ScoreSpan): string {
  return from === to ? String(from) : `${from}-${to}`;
}

export function isInSpan({ from, to }: ScoreSpan, score: number): boolean {
  return score >= from && score <= to;
}

/** The commands of `service question`, and their answers. */
import type { Locale } from "../../../contract/locales.ts";
import type { NumberSpan } from "../../../contract/questions/questions.ts";
import type { Choice, QuestionType } from "../../../contract/resources.ts";
import type { WantedQuestion, WantedTranslation } from "../../domain/questions/check-question.ts";

export type QuestionCommand =
  | { readonly kind: "question.add"; readonly project: string; readonly question: WantedQuestion }
  | { readonly kind: "question.list"; readonly project: string }
  | { readonly kind: "question.show"; readonly project: string; readonly id: string }
  /** Places are counted from 1. */
  | { readonly kind: "question.move"; readonly project: string; readonly id: string; readonly to: number }
  | { readonly kind: "question.retire"; readonly project: string; readonly id: string }
  /** Null takes the translation back. */
  | {
      readonly kind: "question.text";
      readonly project: string;
      readonly id: string;
      readonly locale: Locale;
      readonly texts: WantedTranslation | null;
    };

export interface QuestionInfo {
  readonly id: string;
  readonly type: QuestionType;
  readonly text: string;
  /** Empty for types without. */
  readonly choices: readonly Choice[];
  readonly scale: NumberSpan | null;
  /** Such as `0-6,9-10`; null: everybody is asked. */
  readonly to: string | null;
  /** From 1; null once it is retired. */
  readonly position: number | null;
  readonly retired_at: number | null;
}

/** With its translations, by locale. */
export interface ShownQuestion extends QuestionInfo {
  readonly texts: Readonly<Record<string, WantedTranslation>>;
}

export interface QuestionResults {
  "question.add": QuestionInfo;
  /** Those that are asked in their order, then the retired ones. */
  "question.list": readonly QuestionInfo[];
  "question.show": ShownQuestion;
  "question.move": QuestionInfo;
  "question.retire": QuestionInfo;
  "question.text": ShownQuestion;
}

/** The port for questions beyond the score. See `Store` in `../ports.ts`. */
import type { Locale } from "../../../contract/locales.ts";
import type { NumberSpan } from "../../../contract/questions/questions.ts";
import type { Choice, QuestionType } from "../../../contract/resources.ts";

/** A question in another language; a choice without a text there has its first one. */
export interface QuestionTranslation {
  readonly text: string;
  /** By the choice's id. */
  readonly choices: Readonly<Record<string, string>>;
}

export interface Question {
  readonly id: string;
  readonly type: QuestionType;
  /** In the language in which it was written first. */
  readonly text: string;
  /** Empty for types without. */
  readonly choices: readonly Choice[];
  /** The number of the choice that was made last: no id is given twice. */
  readonly lastChoice: number;
  /** Null for other types. */
  readonly scale: NumberSpan | null;
  /** The scores of those who are asked; null: everybody is. */
  readonly to: readonly NumberSpan[] | null;
  readonly texts: Readonly<Partial<Record<Locale, QuestionTranslation>>>;
  /** From 1; null once it is retired. */
  readonly position: number | null;
  /** Unix seconds; null while it is asked. */
  readonly retiredAt: number | null;
}

export interface QuestionRows {
  /** Those that are asked in their order, then the retired ones, the first retired first. */
  list(project: number): Promise<readonly Question[]>;
  /** Adds a question, or replaces the one with its id. */
  save(project: number, question: Question): Promise<void>;
}

/**
 * Saved rows of the service that closed, in one form whatever they were saved as, and what an engine does with them.
 */
import type { TextsByQuestion } from "../questions/answer-texts.ts";
import type { PersonRow } from "../people/person-columns.ts";
import type { Json } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";

/** The order in which an import stores them: nobody is saved who could be written to against their will. */
export const HISTORY_STEPS = ["suppressions", "people", "marks", "responses"] as const;
export type HistoryStep = (typeof HISTORY_STEPS)[number];

/** The known facts of a person; null for an unknown one. Times are Unix seconds. */
export interface PastPerson {
  readonly id: number | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  readonly createdAt: number | null;
  readonly lastSentAt: number | null;
  readonly unsubscribedAt: number | null;
  readonly bouncedAt: number | null;
  /** When the person last answered, where all answers of an import are known; absent: the answers tell. */
  readonly answeredAt?: number;
}

export interface PastNote {
  /** Null where the source has none: it gets one. */
  readonly id: number | null;
  readonly text: string;
  readonly userEmail: string;
  readonly createdAt: number;
}

export interface PastResponse {
  /** Null where the source has none: then person, time and score tell it from others. */
  readonly id: number | null;
  readonly person: PastPerson;
  readonly surveyType: string;
  readonly score: number;
  readonly comment: string | null;
  readonly createdAt: number;
  /** Null: the moment of storing, which is not compared with what is stored. */
  readonly updatedAt: number | null;
  readonly properties: Properties;
  /** The address at which it was shown on the closed service. */
  readonly permalink?: string;
  /** Null where the source does not say. */
  readonly tags: readonly string[] | null;
  readonly notes: readonly PastNote[] | null;
  readonly additionalAnswers: readonly Json[] | null;
  /** Answers as one text each, by the question's id; those of `additionalAnswers` take precedence. */
  readonly answers?: TextsByQuestion;
}

/** A response's columns; the last four are JSON arrays. */
export interface StoredPastResponse {
  readonly id: number;
  readonly personId: number;
  readonly surveyType: string;
  readonly score: number;
  readonly comment: string | null;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** A JSON object. */
  readonly properties: string;
  readonly tags: string;
  readonly additionalAnswers: string;
  readonly notes: string;
  readonly noteIds: string;
}

/** A response to store, and where it was shown before. */
export type NewPastResponse = StoredPastResponse & Pick<PastResponse, "permalink">;

export type StoredPastPerson = Omit<PersonRow, "lastRespondedAt" | "nextSurveyAt">;

/** When somebody last answered, and was last asked. */
export interface LastAnswer {
  readonly id: number;
  readonly at: number;
}

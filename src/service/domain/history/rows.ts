import type { TextsByQuestion } from "../inputs.ts";
import type { PersonRow } from "../people/person-columns.ts";
import type { Json } from "../../../contract/json.ts";
import type { Properties } from "../../../contract/resources.ts";

/** The order of an import. Suppressions come first, so that no one who opted out can be mailed in between. */
export const HISTORY_STEPS = ["suppressions", "people", "marks", "responses"] as const;
export type HistoryStep = (typeof HISTORY_STEPS)[number];

/** Null for unknown values. Times are Unix seconds. */
export interface PastPerson {
  readonly id: number | null;
  readonly email: string | null;
  readonly name: string | null;
  readonly phoneNumber: string | null;
  readonly createdAt: number | null;
  readonly lastSentAt: number | null;
  readonly unsubscribedAt: number | null;
  readonly bouncedAt: number | null;
  /** When they last answered, if the import has all answers; if omitted, derived from the imported answers. */
  readonly answeredAt?: number;
}

export interface PastNote {
  /** Null if the source has none; a new one is assigned. */
  readonly id: number | null;
  readonly text: string;
  readonly userEmail: string;
  readonly createdAt: number;
}

export interface PastResponse {
  /** Null if the source has none; then person, time and score identify the response. */
  readonly id: number | null;
  readonly person: PastPerson;
  readonly surveyType: string;
  readonly score: number;
  readonly comment: string | null;
  readonly createdAt: number;
  /** If null, the time of the import is stored, and the field is ignored when comparing. */
  readonly updatedAt: number | null;
  readonly properties: Properties;
  readonly permalink?: string;
  readonly tags: readonly string[] | null;
  readonly notes: readonly PastNote[] | null;
  readonly additionalAnswers: readonly Json[] | null;
  /** One string per question id; `additionalAnswers` take precedence. */
  readonly answers?: TextsByQuestion;
}

export type StoredPastPerson = Omit<PersonRow, "lastRespondedAt" | "nextSurveyAt">;

export interface LastAnswer {
  readonly id: number;
  readonly at: number;
}

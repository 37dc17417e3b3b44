/**
 * Saved rows of the service that closed, in one form whatever they were saved as, and what an engine does with them.
 */
import type { TextsByQuestion } from "../questions/answer-texts.ts";
import type { PersonRow, Suppression } from "../rows.ts";
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

/** Rows by the hundred: each method is as many look-ups as rows, and one call. */
export interface HistoryRows {
  /** Later ids are counted from above this one. The first id that nothing had before. */
  reserve(project: number, id: number): Promise<number>;
  nextId(project: number): Promise<number>;
  people(project: number, ids: readonly number[]): Promise<readonly PersonRow[]>;
  /** Those of the ids that people have, each with the time up to which it is marked; cheaper than the people. */
  markedUpTo(project: number, ids: readonly number[]): Promise<ReadonlyMap<number, number>>;
  peopleByEmail(project: number, emails: readonly string[]): Promise<readonly PersonRow[]>;
  peopleByPhone(project: number, phoneNumbers: readonly string[]): Promise<readonly PersonRow[]>;
  /** Neither ids nor addresses may be taken. */
  insertPeople(project: number, people: readonly Omit<PersonRow, "nextSurveyAt">[]): Promise<void>;
  /** All columns, `createdAt` among them. */
  replacePerson(project: number, person: StoredPastPerson): Promise<void>;
  /** Suppressions of e-mail by address, of those that have any. */
  suppressed(project: number, emails: readonly string[]): Promise<ReadonlyMap<string, readonly Suppression[]>>;
  responses(project: number, ids: readonly number[]): Promise<readonly StoredPastResponse[]>;
  /** The id of a person's response with that time and score; null for none. */
  findResponse(project: number, personId: number, createdAt: number, score: number): Promise<number | null>;
  /** No id may be taken. */
  insertResponses(project: number, responses: readonly NewPastResponse[]): Promise<void>;
  replaceResponse(project: number, response: NewPastResponse): Promise<void>;
  /** Keeps the later of what is stored and what is given, as last answered and as last asked. */
  markAnswered(project: number, people: readonly LastAnswer[]): Promise<void>;
}

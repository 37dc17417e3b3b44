import type { Properties } from "../../../contract/resources.ts";
import type { ResponseOrder } from "../../../contract/routes.ts";
import type { Project, TimeRange } from "../inputs.ts";
import type { JsonRows } from "./list-rows.ts";

/** How responses are rendered. */
export interface ResponseShape {
  readonly expandPerson: boolean;
  readonly expandNotes: boolean;
  /** What stands before the token in `permalink`. */
  readonly permalinkPrefix: string;
}

export interface ResponsesFilter extends TimeRange {
  readonly updatedSince: number | null;
  readonly updatedUntil: number | null;
  readonly personId: number | null;
  readonly trendId: number | null;
  readonly order: ResponseOrder;
  readonly offset: number;
  readonly limit: number;
}

export interface ResponseRow {
  readonly id: number;
  readonly personId: number;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly tags: readonly string[];
  readonly createdAt: number;
  readonly updatedAt: number;
}

export interface NewResponse {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly personId: number;
  readonly score: number;
  readonly comment: string | null;
  readonly personProperties: Properties;
  readonly token: string;
  readonly createdAt: number;
  readonly updatedAt: number;
  /** The request that it answers, if one. */
  readonly requestId: number | null;
  readonly tags?: readonly string[];
  /** JSON array of additional answers, as the specification shapes them. */
  readonly additionalAnswers?: string;
}

export interface NewNote {
  /** Only when rows of another service are taken over. */
  readonly id?: number;
  readonly text: string;
  readonly userEmail: string;
  readonly createdAt: number;
}

export type StoredResponseChange = Partial<
  Pick<ResponseRow, "personId" | "score" | "comment" | "personProperties" | "tags">
> & {
  readonly updatedAt: number;
};

export interface ScoreCounts {
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

/** Survey responses. Each method keeps `lastRespondedAt` of the people concerned and the trends true. */
export interface ResponseRows {
  byId(project: number, id: number): Promise<ResponseRow | null>;
  /** The new response's id. */
  insert(project: number, response: NewResponse): Promise<number>;
  update(project: number, id: number, change: StoredResponseChange): Promise<void>;
  /** `SurveyResponse` as JSON; null when there is none. */
  json(project: number, id: number, shape: ResponseShape): Promise<string | null>;
  /** `SurveyResponse` as JSON, in the asked order, ties by id in the same direction. */
  list(project: number, filter: ResponsesFilter, shape: ResponseShape): Promise<JsonRows>;
  countScores(project: number, filter: TimeRange & { readonly trendId: number | null }): Promise<ScoreCounts>;
  /** The new note's id. Throws when there is no such response. */
  addNote(project: number, responseId: number, note: NewNote): Promise<number>;
  /** The response behind a permalink's token, in whichever project. */
  byToken(token: string): Promise<{ readonly project: Project; readonly id: number } | null>;
}

import type { Channel } from "../../contract/routes.ts";
import type { TimeRange } from "./inputs.ts";
import type { ScoreTally } from "../sql/lists/score-sums.ts";

export type { ScoreTally };

/**
 * Rows of a list as the JSON text of the specification's resource, each row's text on its own: the engine
 * renders them, since carrying a row over as columns costs more than all else that a list does.
 */
export type JsonRows = readonly string[];

/** A place in a list in creation order: rows after it follow. */
export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

export interface EventsFilter extends TimeRange {
  readonly offset: number;
  readonly limit: number;
}

/** Counts of a project, out of what is kept by day. */
export interface ProjectNumbers {
  readonly name: string;
  readonly people: number;
  readonly responses: number;
  readonly unsubscribed: number;
  /** Since the day that was asked for. */
  readonly scores: ScoreTally;
  /** Surveys sent since that day, and those of them that were answered. */
  readonly surveys: Readonly<Record<Channel, { readonly sent: number; readonly answered: number }>>;
}

/** The contents of a store at one moment. */
export interface StoreContents {
  readonly projects: number;
  readonly people: number;
  readonly responses: number;
  /** Survey requests, whatever became of them. */
  readonly surveys: number;
}

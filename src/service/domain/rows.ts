import type { Channel } from "../../contract/routes.ts";
import type { TimeRange } from "./inputs.ts";
import type { ScoreTally } from "../sql/lists/score-sums.ts";

export type { ScoreTally };

/** List rows as JSON text, rendered by the engine: transferring columns would cost more than everything else. */
export type JsonRows = readonly string[];

export interface Position {
  readonly createdAt: number;
  readonly id: number;
}

export interface EventsFilter extends TimeRange {
  readonly offset: number;
  readonly limit: number;
}

export interface ProjectNumbers {
  readonly name: string;
  readonly people: number;
  readonly responses: number;
  readonly unsubscribed: number;
  readonly scores: ScoreTally;
  /** Surveys sent since a given day, and how many of them were answered. */
  readonly surveys: Readonly<Record<Channel, { readonly sent: number; readonly answered: number }>>;
}

export interface StoreContents {
  readonly projects: number;
  readonly people: number;
  readonly responses: number;
  readonly surveys: number;
}

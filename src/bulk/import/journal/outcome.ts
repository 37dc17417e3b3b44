import type { JsonObject } from "../../../contract/json.ts";

/**
 * `saved`: without a survey. Our own service says why: `throttled` (surveyed too recently), `suppressed` (unsubscribed
 * or bounced) or `pending` (a survey is already scheduled).
 */
export const OUTCOMES = [
  "scheduled",
  "saved",
  "failed",
  "unknown",
  "skipped",
  "pending",
  "throttled",
  "suppressed",
] as const;
export type OutcomeName = (typeof OUTCOMES)[number];

export interface RowOutcome {
  readonly outcome: OutcomeName;
  readonly personId: string | null;
  readonly surveyScheduledAt: number | null;
  readonly error: string | null;
  /** The service may have processed the row, so it is looked up before a retry. */
  readonly mayHaveArrived?: boolean;
  /** What `imports undo` sends back to the service. */
  readonly writes?: readonly JsonObject[] | undefined;
}

export interface RecordedOutcome extends RowOutcome {
  readonly line: number;
  readonly identifier: string;
}

export type OutcomeCounts = Record<OutcomeName, number>;

export function countOutcomes(counts: OutcomeCounts): number {
  return OUTCOMES.reduce((sum, name) => sum + counts[name], 0);
}

export function noOutcomes(): OutcomeCounts {
  return Object.fromEntries(OUTCOMES.map((name) => [name, 0])) as OutcomeCounts;
}

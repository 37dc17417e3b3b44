/**
 * `saved` without a survey, as was wanted or for a reason that the service does not tell; where it does, `throttled`
 * (surveyed too recently), `suppressed` (unsubscribed or bounced) or `pending` (a survey is scheduled already).
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

/** The end of one row. */
export interface RowOutcome {
  readonly outcome: OutcomeName;
  readonly personId: string | null;
  /** Unix seconds. */
  readonly surveyScheduledAt: number | null;
  /** The answer of the service or the look-up, or why no survey was scheduled; null when all went well. */
  readonly error: string | null;
  /** Of a failed row: the service may have done it all the same, so it is looked up before it is sent again. */
  readonly mayHaveArrived?: boolean;
}

/** With the row it belongs to, as journal and results file keep it. */
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

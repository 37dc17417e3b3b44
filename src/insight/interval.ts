/**
 * The confidence in a Net Promoter Score: the adjusted Wald interval of Rocks (2016), three more answers than there
 * are, ¾ of them detractors, 1½ passives, ¾ promoters. It stays honest for few answers and where all say the same.
 * Scores and their errors are points, −100 to 100.
 */
import { normalCdf, normalQuantile } from "./normal.ts";

export interface ScoreCounts {
  readonly detractors: number;
  readonly passives: number;
  readonly promoters: number;
}

export interface ScoreInterval {
  /** Of the adjusted answers: the interval lies around it and not around the raw score. */
  readonly centre: number;
  readonly standardError: number;
  /** Both inclusive, never beyond ±100; the raw score is between them. */
  readonly low: number;
  readonly high: number;
}

export interface ScoreChange {
  /** Second less first, of the adjusted answers. */
  readonly change: number;
  readonly standardError: number;
  readonly low: number;
  readonly high: number;
  /** The probability that chance alone gives as great a change, two-sided. */
  readonly p: number;
}

export const CONFIDENCE_DEFAULT = 0.95;

/** Under so few answers an interval is wider than any decision. */
export const FEW_ANSWERS = 10;

export const CHANGE_VERDICTS = ["rise", "fall", "no evidence", "too few"] as const;
export type ChangeVerdict = (typeof CHANGE_VERDICTS)[number];

export function netPromoterScore(counts: ScoreCounts): number | null {
  const answers = countAnswers(counts);
  return answers === 0 ? null : (100 * (counts.promoters - counts.detractors)) / answers;
}

export function scoreInterval(counts: ScoreCounts, confidence: number = CONFIDENCE_DEFAULT): ScoreInterval | null {
  const score = netPromoterScore(counts);
  if (score === null) return null;
  const { centre, variance } = adjusted(counts);
  const standardError = Math.sqrt(variance);
  const reach = criticalValue(confidence) * standardError;
  const [low, high] = [Math.max(centre - reach, -100), Math.min(centre + reach, 100)];
  return { centre, standardError, low: Math.min(low, score), high: Math.max(high, score) };
}

/** Between the answers of different people; null where either has none. */
export function scoreChange(
  before: ScoreCounts,
  after: ScoreCounts,
  confidence: number = CONFIDENCE_DEFAULT,
): ScoreChange | null {
  if (netPromoterScore(before) === null || netPromoterScore(after) === null) return null;
  const [first, second] = [adjusted(before), adjusted(after)];
  const change = second.centre - first.centre;
  const standardError = Math.sqrt(first.variance + second.variance);
  const reach = criticalValue(confidence) * standardError;
  return {
    change,
    standardError,
    low: change - reach,
    high: change + reach,
    p: 2 * normalCdf(-Math.abs(change) / standardError),
  };
}

export function changeVerdict(
  before: ScoreCounts,
  after: ScoreCounts,
  confidence: number = CONFIDENCE_DEFAULT,
): ChangeVerdict {
  const found = scoreChange(before, after, confidence);
  if (found === null || Math.min(countAnswers(before), countAnswers(after)) < FEW_ANSWERS) return "too few";
  if (found.low > 0) return "rise";
  return found.high < 0 ? "fall" : "no evidence";
}

/** Their sum, and never a percentage of a service, which is rounded, nor its number of responses. */
export function countAnswers({ detractors, passives, promoters }: ScoreCounts): number {
  return detractors + passives + promoters;
}

export function criticalValue(confidence: number): number {
  return -normalQuantile((1 - confidence) / 2);
}

/** The score of three more answers, and the square of its standard error. */
function adjusted(counts: ScoreCounts): { centre: number; variance: number } {
  const answers = countAnswers(counts) + 3;
  const [down, up] = [(counts.detractors + 0.75) / answers, (counts.promoters + 0.75) / answers];
  return { centre: 100 * (up - down), variance: (10_000 * (up + down - (up - down) ** 2)) / answers };
}

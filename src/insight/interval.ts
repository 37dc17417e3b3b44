/** Confidence intervals of the NPS, in points: adjusted Wald (Rocks 2016), which adds ¾, 1½ and ¾ answers. */
import { scoreCategory } from "../contract/limits.ts";
import { normalCdf, normalQuantile } from "./normal.ts";

export const KINDS = ["detractors", "passives", "promoters"] as const;
export type Kind = (typeof KINDS)[number];

export type ScoreCounts = Readonly<Record<Kind, number>>;

export function noScores(): Record<Kind, number> {
  return { detractors: 0, passives: 0, promoters: 0 };
}

export function kindOf(score: number): Kind {
  return `${scoreCategory(score)}s`;
}

export const CONFIDENCE_DEFAULT = 0.95;

/** With fewer answers, the interval is too wide for decisions. */
export const FEW_ANSWERS = 10;

export const CHANGE_VERDICTS = ["rise", "fall", "no evidence", "too few"] as const;
export type ChangeVerdict = (typeof CHANGE_VERDICTS)[number];

export function netPromoterScore(counts: ScoreCounts): number | null {
  const answers = countAnswers(counts);
  return answers === 0 ? null : (100 * (counts.promoters - counts.detractors)) / answers;
}

export function scoreInterval(counts: ScoreCounts, confidence: number = CONFIDENCE_DEFAULT) {
  const score = netPromoterScore(counts);
  if (score === null) return null;
  const { centre, variance } = adjusted(counts);
  const standardError = Math.sqrt(variance);
  const reach = criticalValue(confidence) * standardError;
  const [low, high] = [Math.max(centre - reach, -100), Math.min(centre + reach, 100)];
  return { centre, standardError, low: Math.min(low, score), high: Math.max(high, score) };
}

/** The second score minus the first, from the adjusted answers; `p` is two-sided. */
export function scoreChange(before: ScoreCounts, after: ScoreCounts, confidence: number = CONFIDENCE_DEFAULT) {
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

export function countAnswers({ detractors, passives, promoters }: ScoreCounts): number {
  return detractors + passives + promoters;
}

export function criticalValue(confidence: number): number {
  return -normalQuantile((1 - confidence) / 2);
}

function adjusted(counts: ScoreCounts): { centre: number; variance: number } {
  const answers = countAnswers(counts) + 3;
  const [down, up] = [(counts.detractors + 0.75) / answers, (counts.promoters + 0.75) / answers];
  return { centre: 100 * (up - down), variance: (10_000 * (up + down - (up - down) ** 2)) / answers };
}

/**
 * The alarm that a score has fallen, asked as often as one likes: an asymptotic confidence sequence (Waudby-Smith and
 * others, 2021) holds the true score at all times at once, so that looking every day raises no more false alarms than
 * looking once. Scores are points, −100 to 100.
 */
import { countAnswers, criticalValue, netPromoterScore, type ScoreCounts, scoreInterval } from "./interval.ts";

/** The sequence is tuned to be narrow at about so many answers. */
const TUNED_ANSWERS = 200;
/** Fewer answers than this raise no alarm; as many are the baseline where there is no target. */
export const ALARM_ANSWERS_MIN = 20;

export interface AlarmQuestion {
  readonly counts: ScoreCounts;
  /** A score that was decided on, or the first answers, which are left out of what is compared with them. */
  readonly reference: { readonly target: number } | { readonly baseline: ScoreCounts };
  /** Between 0 and 1: how often a year of looking raises no alarm where nothing has fallen. */
  readonly confidence: number;
}

export interface AlarmCheck {
  readonly n: number;
  readonly nps: number | null;
  readonly target: number;
  /** The score would have to be at or above this to be at the target; null under 20 answers. */
  readonly limit: number | null;
  readonly fires: boolean;
}

/** Fires for falls alone. */
export function checkAlarm({ counts, reference, confidence }: AlarmQuestion): AlarmCheck {
  const compared = "baseline" in reference ? without(counts, reference.baseline) : counts;
  const target = "baseline" in reference ? (netPromoterScore(reference.baseline) ?? 0) : reference.target;
  const [n, nps] = [countAnswers(compared), netPromoterScore(compared)];
  const spread = scoreInterval(compared, confidence);
  if (n < ALARM_ANSWERS_MIN || nps === null || spread === null) return { n, nps, target, limit: null, fires: false };
  // Of the adjusted answers, which is above zero also where all say the same.
  const deviation = spread.standardError * Math.sqrt(n + 3);
  const limit = target - reachOf(reference, deviation, n, 1 - confidence);
  return { n, nps, target, limit, fires: nps < limit };
}

/**
 * The fall against a baseline, in points, that fires once so many more answers have come, where they are spread as
 * those of the baseline are.
 */
export function visibleFall(baseline: ScoreCounts, answers: number, confidence: number): number {
  const spread = scoreInterval(baseline, confidence)?.standardError ?? 0;
  const deviation = spread * Math.sqrt(countAnswers(baseline) + 3);
  return reachOf({ baseline }, deviation, answers, 1 - confidence);
}

/**
 * A baseline is an estimate as well: its error counts once, however often one looks, and each of the two errors gets
 * half of the false alarms that are allowed.
 */
function reachOf(reference: AlarmQuestion["reference"], deviation: number, n: number, alpha: number): number {
  if ("target" in reference) return sequenceRadius(deviation, n, alpha);
  const own = scoreInterval(reference.baseline)?.standardError ?? 0;
  return Math.hypot(sequenceRadius(deviation, n, alpha / 2), criticalValue(1 - alpha / 2) * own);
}

/**
 * The distance from the truth that the score of `answers` may have, at all times at once; in the unit of `deviation`.
 */
export function sequenceRadius(deviation: number, answers: number, alpha: number): number {
  const rho2 = (-2 * Math.log(alpha) + Math.log(1 - 2 * Math.log(alpha))) / TUNED_ANSWERS;
  const growth = answers * rho2 + 1;
  return deviation * Math.sqrt(((2 * growth) / (answers ** 2 * rho2)) * Math.log(Math.sqrt(growth) / alpha));
}

/** An answer that was changed or removed since leaves no negative count. */
function without(counts: ScoreCounts, first: ScoreCounts): ScoreCounts {
  return {
    detractors: Math.max(0, counts.detractors - first.detractors),
    passives: Math.max(0, counts.passives - first.passives),
    promoters: Math.max(0, counts.promoters - first.promoters),
  };
}

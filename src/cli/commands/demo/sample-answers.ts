/** Who answers the demo's survey, and what they say: chance decides, so a test decides chance. */
import { scoreCategory, type ScoreCategory } from "../../../contract/limits.ts";
import type { Random } from "../../../runtime/random.ts";

export interface Answer {
  readonly score: number;
  readonly comment: string | null;
}

/** Of a hundred people asked, about so many answer. */
const ANSWERING_SHARE = 0.35;
/** Of those who answer, about so many write something. */
const COMMENTING_SHARE = 0.55;

/** How often each score from 0 to 10 is given, out of a hundred. */
const SCORE_WEIGHTS = [2, 1, 2, 2, 2, 5, 6, 13, 19, 22, 26] as const;

const COMMENTS: Readonly<Record<ScoreCategory, readonly string[]>> = {
  promoter: [
    "Works every day for us.",
    "Love it",
    "Super Service, schnelle Antwort!",
    "Très bon produit",
    "最高です。",
  ],
  passive: ["Fine, nothing special", "Could be faster", "Está bien", "Good, but the mobile app lags behind"],
  detractor: [
    "Too expensive",
    'Support took 3 days, "urgent" they said',
    "The export broke twice",
    "Setup was confusing",
  ],
};

/** One answer or null for each of `count` people. */
export function sampleAnswers(count: number, random: Random): (Answer | null)[] {
  return Array.from({ length: count }, () => (random.fraction() < ANSWERING_SHARE ? sampleAnswer(random) : null));
}

function sampleAnswer(random: Random): Answer {
  const score = sampleScore(random.fraction());
  const comments = COMMENTS[scoreCategory(score)];
  const comment =
    random.fraction() < COMMENTING_SHARE ? comments[Math.floor(random.fraction() * comments.length)] : undefined;
  return { score, comment: comment ?? null };
}

function sampleScore(fraction: number): number {
  const total = SCORE_WEIGHTS.reduce((sum, weight) => sum + weight, 0);
  let left = fraction * total;
  const score = SCORE_WEIGHTS.findIndex((weight) => (left -= weight) < 0);
  return score === -1 ? 10 : score;
}

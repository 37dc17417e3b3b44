import type { JsonObject } from "../../../contract/json.ts";
import {
  CHANGE_VERDICTS,
  changeVerdict,
  countAnswers,
  scoreChange,
  type ScoreCounts,
  scoreInterval,
} from "../../../insight/interval.ts";
import { benjaminiHochberg } from "../../../insight/segments.ts";
import { badValue } from "../../args/values.ts";

const METHOD = "adjusted-wald";

export function parseConfidence(text: string, place: string): number {
  const value = /^\d*\.?\d+$/.test(text.trim()) ? Number(text) : Number.NaN;
  if (value > 0 && value < 1) return value;
  throw badValue(place, text, "between 0 and 1, such as 0.95");
}

/** Adds `q` (Benjamini–Hochberg), because among many periods some change by chance. */
export function correctVerdicts(rows: readonly JsonObject[], confidence: number): JsonObject[] {
  const qs = benjaminiHochberg(rows.filter(isCompared).map(({ p }) => Number(p))).values();
  return rows.map((row) => {
    if (!isCompared(row)) return { ...row, q: null };
    const q = qs.next().value ?? 1;
    const verdict = q >= 1 - confidence ? "no evidence" : Number(row["change"]) > 0 ? "rise" : "fall";
    return { ...row, q, verdict };
  });
}

function isCompared({ p, verdict }: JsonObject): boolean {
  return typeof p === "number" && verdict !== "too few";
}

export function isSureChange({ verdict }: JsonObject): boolean {
  return verdict === "rise" || verdict === "fall";
}

export const CHANGE_FIELDS = ["change", "change_low", "change_high", "p"] as const;
export const WORD_FIELDS: Readonly<Record<string, readonly string[]>> = {
  verdict: CHANGE_VERDICTS,
  method: [METHOD],
};

/** Null if the service sent no counts, for example if only the group `email` was requested (4.7). */
export function countsOf(metrics: JsonObject): ScoreCounts | null {
  const { promoter_count: promoters, passive_count: passives, detractor_count: detractors } = metrics;
  if (typeof promoters !== "number" || typeof passives !== "number" || typeof detractors !== "number") return null;
  return { promoters, passives, detractors };
}

export function intervalFields(metrics: JsonObject, confidence: number): JsonObject {
  const counts = countsOf(metrics);
  if (counts === null) return {};
  const interval = scoreInterval(counts, confidence);
  // With very many answers, the API's rounded score can be outside its interval.
  const nps = typeof metrics["nps"] === "number" ? [metrics["nps"]] : [];
  return {
    nps_low: interval === null ? null : Math.min(interval.low, ...nps),
    nps_high: interval === null ? null : Math.max(interval.high, ...nps),
    margin: interval === null ? null : (interval.high - interval.low) / 2,
    confidence,
    method: METHOD,
    n: countAnswers(counts),
  };
}

export function changeFields(before: JsonObject, after: JsonObject, confidence: number): JsonObject {
  const [first, second] = [countsOf(before), countsOf(after)];
  if (first === null || second === null) return {};
  const change = scoreChange(first, second, confidence);
  return {
    change: change?.change ?? null,
    change_low: change?.low ?? null,
    change_high: change?.high ?? null,
    p: change?.p ?? null,
    verdict: changeVerdict(first, second, confidence),
  };
}

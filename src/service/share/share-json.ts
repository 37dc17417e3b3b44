import { toCoreMetrics } from "../../contract/resources.ts";
import { netPromoterScore, scoreInterval } from "../../insight/interval.ts";
import type { ScoreTally } from "../domain/ports.ts";
import type { ShareFacts } from "./facts.ts";

/** Rounded like the API's metrics (4.7); null without answers. */
function scoreFields(counts: ScoreTally) {
  const { nps, response_count, ...kinds } = toCoreMetrics(counts);
  const interval = scoreInterval(counts);
  return {
    nps: netPromoterScore(counts) === null ? null : nps,
    nps_low: interval === null ? null : Math.min(interval.low, nps),
    nps_high: interval === null ? null : Math.max(interval.high, nps),
    response_count,
    kinds,
  };
}

export function shareJson(facts: ShareFacts): object {
  const { kinds, ...score } = scoreFields(facts.counts);
  return {
    name: facts.title,
    computed_at: facts.until,
    since: facts.since,
    until: facts.until,
    ...score,
    promoter_count: kinds.promoter_count,
    passive_count: kinds.passive_count,
    detractor_count: kinds.detractor_count,
    periods: facts.periods.map(({ label, counts }) => {
      const { kinds: _, ...period } = scoreFields(counts);
      return { period: label, ...period };
    }),
    scores: facts.scores,
    segments: (facts.segments?.rows ?? []).map(({ property, value, nps, n }) => {
      return { property, value, nps, response_count: n };
    }),
  };
}

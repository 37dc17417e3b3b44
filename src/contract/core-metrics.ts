/** The group `core` of the metrics (4.7) out of its three counts. */
import type { Metrics } from "./resources.ts";

/** Answers of each kind. */
interface Counts {
  readonly promoters: number;
  readonly passives: number;
  readonly detractors: number;
}

/** Counts and shares; percentages and `nps` round half away from zero, `nps` from the exact shares. */
export function toCoreMetrics({ promoters, passives, detractors }: Counts): Metrics {
  const total = promoters + passives + detractors;
  return {
    nps: percent(promoters - detractors, total),
    promoter_count: promoters,
    promoter_percent: percent(promoters, total),
    passive_count: passives,
    passive_percent: percent(passives, total),
    detractor_count: detractors,
    detractor_percent: percent(detractors, total),
    response_count: total,
  };
}

/**
 * `part` of `total` in whole per cent, half away from zero; 0 when there is nothing. In whole numbers, so that halves
 * are exact.
 */
function percent(part: number, total: number): number {
  if (total === 0 || part === 0) return 0;
  return Math.sign(part) * Math.floor((200 * Math.abs(part) + total) / (2 * total)) || 0;
}

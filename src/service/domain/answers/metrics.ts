/** Metrics, section 4.7. */
import type { Metrics } from "../../../contract/resources.ts";
import type { MetricGroup, MetricsQuery, Project } from "../inputs.ts";
import type { ScoreTally, Transaction } from "../ports.ts";
import { requireTrend } from "./trends.ts";

type Group = Readonly<Record<string, number>>;

/**
 * The asked groups in one flat object, each but `core` under its own prefix. Without `since` and `until`:
 * all time. `trend` restricts responses, never the counts of messages. An unknown trend is an InvalidError.
 */
export async function getMetrics(tx: Transaction, project: Project, query: MetricsQuery): Promise<Partial<Metrics>> {
  const trendId = query.trend === null ? null : await requireTrend(tx, project, query.trend);
  const groups = query.groups.size === 0 ? new Set<MetricGroup>(["core"]) : query.groups;
  const result: Record<string, number> = {};
  for (const group of groups) Object.assign(result, await readGroup(tx, project, group, query, trendId));
  return result;
}

async function readGroup(
  tx: Transaction,
  project: Project,
  group: MetricGroup,
  query: MetricsQuery,
  trendId: number | null,
): Promise<Group> {
  const { since, until } = query;
  switch (group) {
    case "core":
      return toCoreMetrics(await tx.responses.countScores(project.id, { since, until, trendId }));
    case "email":
      return {
        email_sent_count: await tx.requests.countSent(project.id, "email", query),
        email_reminder_count: await tx.requests.countSent(project.id, "reminder", query),
        email_open_count: 0,
        email_bounce_count: await tx.people.countBounced(project.id, query),
        email_unsubscribe_count: await tx.people.countUnsubscribed(project.id, query),
      };
    case "sms":
      return { sms_sent_count: await tx.requests.countSent(project.id, "sms", query) };
    default:
      // Surveys go out by e-mail and SMS alone, so nothing ever comes in by these.
      return { [`${group}_response_count`]: 0 };
  }
}

/** Counts and shares; percentages and `nps` round half away from zero, `nps` from the exact shares. */
export function toCoreMetrics({ promoters, passives, detractors }: ScoreTally): Metrics {
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

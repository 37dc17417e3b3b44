import { type Metrics, toCoreMetrics } from "../../../contract/resources.ts";
import { type Channel, CHANNELS } from "../../../contract/routes.ts";
import type { MetricGroup, MetricsQuery, Project, TimeRange } from "../inputs.ts";
import type { Transaction } from "../ports.ts";
import { requireTrend } from "./trends.ts";

type Group = Readonly<Record<string, number | null>>;

/**
 * The fields of every group except `core` start with the group's name. `trend` doesn't apply to counts of messages.
 * Throws InvalidError.
 */
export async function getMetrics(tx: Transaction, project: Project, query: MetricsQuery): Promise<Partial<Metrics>> {
  const trendId = query.trend === null ? null : await requireTrend(tx, project, query.trend);
  const groups = query.groups.size === 0 ? new Set<MetricGroup>(["core"]) : query.groups;
  const result: Record<string, number | null> = {};
  for (const group of groups) Object.assign(result, await readGroup(tx, project, group, query, trendId));
  return result as Partial<Metrics>;
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
        email_bounce_count: await tx.people.countEvents(project.id, "bounced_at", query),
        email_unsubscribe_count: await tx.people.countEvents(project.id, "unsubscribed_at", query),
        email_response_rate: await responseRate(tx, project, "email", query),
      };
    case "sms":
      return {
        sms_sent_count: await tx.requests.countSent(project.id, "sms", query),
        sms_response_rate: await responseRate(tx, project, "sms", query),
      };
    case "link":
      return { link_response_count: await tx.responses.countByLinks(project.id, { since, until, trendId }) };
    default:
      // This server never receives answers on the other channels.
      return { [`${group}_response_count`]: 0 };
  }
}

/** To four decimals; null if no surveys were sent in the range. */
async function responseRate(
  tx: Transaction,
  project: Pick<Project, "id">,
  channel: Channel,
  range: TimeRange,
): Promise<number | null> {
  const sent = await tx.requests.countSent(project.id, channel, range);
  if (sent === 0) return null;
  return Number(((await tx.requests.countAnswered(project.id, channel, range)) / sent).toFixed(4));
}

/** `rate` is from 0 to 1. */
export interface ChannelRate {
  readonly channel: Channel;
  readonly sent: number;
  readonly rate: number;
}

/** Omits channels without surveys. */
export async function channelRates(
  tx: Transaction,
  project: Pick<Project, "id">,
  range: TimeRange,
): Promise<readonly ChannelRate[]> {
  const found: ChannelRate[] = [];
  for (const channel of CHANNELS) {
    const rate = await responseRate(tx, project, channel, range);
    if (rate !== null) found.push({ channel, sent: await tx.requests.countSent(project.id, channel, range), rate });
  }
  return found;
}

/** Metrics of people and answers per project. */
import { netPromoterScore, scoreInterval } from "../../insight/interval.ts";
import { type Family, type MetricSample, writeFamily } from "../../runtime/metrics.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { ProjectNumbers, Transaction } from "../domain/ports.ts";

const PROJECT = ["project"] as const;
const FAMILIES = {
  people: { name: "surveyctl_people", type: "gauge", help: "People, by project.", labels: PROJECT },
  responses: { name: "surveyctl_responses", type: "gauge", help: "Responses, by project.", labels: PROJECT },
  unsubscribed: {
    name: "surveyctl_unsubscribed_people",
    type: "gauge",
    help: "People who have unsubscribed, by project.",
    labels: PROJECT,
  },
  score: {
    name: "surveyctl_nps",
    type: "gauge",
    help: "Net Promoter Score of the last 90 days (UTC); absent without answers.",
    labels: PROJECT,
  },
  low: {
    name: "surveyctl_nps_low",
    type: "gauge",
    help: "Lower end of the 95% interval of the score.",
    labels: PROJECT,
  },
  high: {
    name: "surveyctl_nps_high",
    type: "gauge",
    help: "Upper end of the 95% interval of the score.",
    labels: PROJECT,
  },
  responseRate: {
    name: "surveyctl_response_rate",
    type: "gauge",
    help: "Share of the surveys sent in the last 90 days (UTC) that were answered, 0 to 1; absent if none was sent.",
    labels: ["project", "channel"],
  },
} as const satisfies Record<string, Family>;

const DAYS = 90;

/** Of the last 90 days including today, and of all time. */
export function readProjectNumbers(tx: Transaction): Promise<readonly ProjectNumbers[]> {
  return tx.projects.numbers(utcDay(tx.now) - DAYS + 1);
}

export function projectMetrics(projects: readonly ProjectNumbers[]): readonly string[] {
  const by = (value: (project: ProjectNumbers) => number | null | undefined): MetricSample[] =>
    projects.flatMap((project): MetricSample[] => {
      const found = value(project) ?? null;
      return found === null ? [] : [[[project.name], found]];
    });
  const rates = projects.flatMap(({ name, surveys }) =>
    Object.entries(surveys).flatMap(([channel, { sent, answered }]): MetricSample[] =>
      sent === 0 ? [] : [[[name, channel], answered / sent]],
    ),
  );
  return [
    ...writeFamily(
      FAMILIES.people,
      by(({ people }) => people),
    ),
    ...writeFamily(
      FAMILIES.responses,
      by(({ responses }) => responses),
    ),
    ...writeFamily(
      FAMILIES.unsubscribed,
      by(({ unsubscribed }) => unsubscribed),
    ),
    ...writeFamily(
      FAMILIES.score,
      by(({ scores }) => netPromoterScore(scores)),
    ),
    ...writeFamily(
      FAMILIES.low,
      by(({ scores }) => scoreInterval(scores)?.low),
    ),
    ...writeFamily(
      FAMILIES.high,
      by(({ scores }) => scoreInterval(scores)?.high),
    ),
    ...writeFamily(FAMILIES.responseRate, rates),
  ];
}

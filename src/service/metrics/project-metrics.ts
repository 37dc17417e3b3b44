import { netPromoterScore, scoreInterval } from "../../insight/interval.ts";
import { type MetricSample, writeGauge } from "../../runtime/metrics.ts";
import { utcDay } from "../../runtime/zone.ts";
import type { ProjectNumbers, Transaction } from "../domain/ports.ts";

const DAYS = 90;

export function readProjectNumbers(tx: Transaction): Promise<readonly ProjectNumbers[]> {
  return tx.projects.numbers(utcDay(tx.now) - DAYS + 1);
}

export function projectMetrics(projects: readonly ProjectNumbers[]): readonly string[] {
  const gauge = (name: string, help: string, read: (project: ProjectNumbers) => number | null): readonly string[] => {
    const found = projects.map((project): readonly [string, number | null] => [project.name, read(project)]);
    const samples = found.flatMap(([project, value]): MetricSample[] => (value === null ? [] : [[[project], value]]));
    return writeGauge({ name: `surveyctl_${name}`, help, labels: ["project"] }, samples);
  };
  const rates = projects.flatMap(({ name, surveys }) =>
    Object.entries(surveys).flatMap(([channel, { sent, answered }]): MetricSample[] =>
      sent === 0 ? [] : [[[name, channel], answered / sent]],
    ),
  );
  const score = "Net Promoter Score of the last 90 days (UTC); absent without answers.";
  const rate =
    "Share of the surveys sent in the last 90 days (UTC) that were answered, 0 to 1; absent if none was sent.";
  return [
    ...gauge("people", "People, by project.", ({ people }) => people),
    ...gauge("responses", "Responses, by project.", ({ responses }) => responses),
    ...gauge("unsubscribed_people", "People who have unsubscribed, by project.", ({ unsubscribed }) => unsubscribed),
    ...gauge("nps", score, ({ scores }) => netPromoterScore(scores)),
    ...gauge(
      "nps_low",
      "Lower end of the 95% interval of the score.",
      ({ scores }) => scoreInterval(scores)?.low ?? null,
    ),
    ...gauge(
      "nps_high",
      "Upper end of the 95% interval of the score.",
      ({ scores }) => scoreInterval(scores)?.high ?? null,
    ),
    ...writeGauge({ name: "surveyctl_response_rate", help: rate, labels: ["project", "channel"] }, rates),
  ];
}

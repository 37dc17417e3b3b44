/** The whole `/metrics` response: its format, and the names that dashboards and alerts rely on. */
import { readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, describe, expect, it, test } from "vitest";
import { answerSurvey } from "../../../src/service/domain/answers/answers.ts";
import { Histogram, writeGauge } from "../../../src/runtime/metrics.ts";
import { readText } from "../../helpers/read-text.ts";
import { POSTGRESQL_FAMILIES } from "../../../src/service/metrics/service-metrics.ts";
import { onPostgres } from "../../helpers/postgres.ts";
import { openEmbeddedService, type EmbeddedService } from "../../helpers/embedded-service.ts";

const NAMES = [
  "build_info",
  "clock_behind_seconds",
  "delivery_breaker",
  "delivery_duration_seconds",
  "delivery_queue",
  "delivery_total",
  "delivery_unknown",
  "hook_refusals_total",
  "http_request_duration_seconds",
  "http_requests_in_flight",
  "http_requests_total",
  "nodejs_eventloop_lag_p99_seconds",
  "nps",
  "nps_high",
  "nps_low",
  "people",
  "process_cpu_seconds_total",
  "process_resident_memory_bytes",
  "rate_limited_total",
  "refused_total",
  "reports_total",
  "response_rate",
  "responses",
  "scheduler_last_success_timestamp_seconds",
  "sms_received_total",
  "sms_replies_total",
  "sms_segments_total",
  "smtp_reply_total",
  "store_batch_jobs",
  "store_statements_total",
  "store_transaction_duration_seconds",
  "store_transactions_total",
  "surveys_due",
  "surveys_oldest_due_age_seconds",
  "unsubscribed_people",
  "webhook_attempts_total",
  "webhook_endpoints",
  "webhook_oldest_due_seconds",
  "webhook_queue",
  "webhooks_pending",
];

/** Metrics that only a PostgreSQL service has. */
const more = onPostgres ? Object.values(POSTGRESQL_FAMILIES).map(({ name }) => name.replace("surveyctl_", "")) : [];

const state: { world?: EmbeddedService; lines: string[] } = { lines: [] };
beforeAll(async () => {
  state.world = await openEmbeddedService();
  await state.world.client.sendPerson({ email: "ada@example.com" });
  await state.world.service.finishDue();
  await answerOnPage(state.world);
  const request = { method: "GET", url: "http://embedded.test/metrics", headers: {} };
  state.lines = (await readText(await state.world.service.handle(request))).split("\n");
});
afterAll(() => state.world?.close());

async function answerOnPage({ folder, service }: EmbeddedService): Promise<void> {
  const outbox = path.join(folder, "outbox");
  const name = readdirSync(outbox).find((each) => each.endsWith(".eml")) ?? "";
  const [, token = ""] =
    /\/s\/([\w-]{22})/.exec(readFileSync(path.join(outbox, name), "utf8").replace(/=\r?\n/g, "")) ?? [];
  await service.store.write((tx) => answerSurvey(tx, token, { score: 10, by: "button" }, 86_400), { project: "all" });
}

const valuesOf = (start: string): number[] =>
  state.lines.filter((line) => line.startsWith(start)).map((line) => Number(line.split(" ").at(-1)));

describe("a scrape", () => {
  it("has a text, a type and a unique set of series for each name", () => {
    expect(state.lines.pop()).toBe("");
    const grammar =
      /^(?:# HELP \w+ [A-Z0-9].*\.|# TYPE \w+ (?:counter|gauge|histogram)|surveyctl_\w+(?:\{(?:\w+="[^"\\]*",?)+\})? [\d.e-]+)$/;
    expect(state.lines.filter((line) => !grammar.test(line))).toEqual([]);
    const types = state.lines.flatMap((line) => /^# TYPE surveyctl_(\w+)/.exec(line)?.[1] ?? []);
    expect(types.toSorted()).toEqual([...NAMES, ...more].toSorted());
    const series = state.lines.filter((line) => !line.startsWith("#")).map((line) => line.replace(/ \S+$/, ""));
    expect(new Set(series).size).toBe(series.length);
  });

  it("counts the delivery, its transactions and the process", () => {
    expect(valuesOf('surveyctl_delivery_total{channel="email",outcome="sent"}')).toEqual([1]);
    expect(valuesOf('surveyctl_delivery_duration_seconds_count{channel="email"}')).toEqual([1]);
    expect(valuesOf('surveyctl_http_requests_total{route="sendPerson",method="POST",status="201"}')).toEqual([1]);
    const [commits = 0] = valuesOf('surveyctl_store_transactions_total{outcome="committed"}');
    expect(commits).toBeGreaterThan(2);
    expect(valuesOf("surveyctl_store_transaction_duration_seconds_count")).toEqual([commits]);
    expect(valuesOf("surveyctl_store_batch_jobs_count")).toEqual([commits]);
    expect(valuesOf("surveyctl_build_info{")).toEqual([1]);
    expect(Math.abs((valuesOf("surveyctl_scheduler_last_success")[0] ?? 0) - Date.now() / 1000)).toBeLessThan(60);
    expect(valuesOf("surveyctl_process_resident_memory_bytes")[0]).toBeGreaterThan(1e7);
  });

  it("has people, answers and the score of 90 days with its interval for each project", () => {
    const names = ["people", "responses", "unsubscribed_people", "nps", "nps_low", "nps_high"];
    const values = names.map((name) => valuesOf(`surveyctl_${name}{project="default"}`).map(Math.round));
    expect(values).toEqual([[1], [1], [0], [100], [-48], [100]]);
    expect(state.lines.filter((line) => line.startsWith("surveyctl_response_rate"))).toEqual([
      'surveyctl_response_rate{project="default",channel="email"} 1',
    ]);
  });

  it("leaves out what the store does not tell", async () => {
    const lost = await openEmbeddedService();
    await lost.service.store.close();
    const request = { method: "GET", url: "http://embedded.test/metrics", headers: {} };
    const { status, ...answer } = await lost.service.handle(request);
    const text = await readText({ status, ...answer });
    expect([status, text.includes("surveyctl_delivery_queue"), text.includes("surveyctl_delivery_total")]).toEqual([
      200,
      false,
      true,
    ]);
    await lost.close().catch(() => undefined);
  });
});

interface Panel {
  readonly title: string;
  readonly gridPos: { readonly x: number; readonly y: number; readonly w: number; readonly h: number };
  readonly targets?: readonly { readonly expr: string }[];
}

test("the dashboard shows the metrics that a scrape has or PostgreSQL adds, no others, and its panels do not overlap", () => {
  const file = path.join(import.meta.dirname, "../../../docs/deploy/grafana-dashboard.json");
  const { panels } = JSON.parse(readFileSync(file, "utf8")) as { readonly panels: readonly Panel[] };
  const asked = panels.flatMap(({ targets = [] }) => targets.flatMap(({ expr }) => expr.match(/surveyctl_\w+/g) ?? []));
  const known = new Set([
    ...state.lines.flatMap((line) => /^# TYPE (\w+)/.exec(line)?.[1] ?? []),
    ...Object.values(POSTGRESQL_FAMILIES).map(({ name }) => name),
  ]);
  const unknown = asked.filter((name) => !known.has(name) && !known.has(name.replace(/_(?:bucket|sum|count)$/, "")));
  const shown = new Set(asked.map((name) => (known.has(name) ? name : name.replace(/_(?:bucket|sum|count)$/, ""))));
  const missing = [...known].filter((name) => !shown.has(name));
  expect([unknown, missing]).toEqual([[], []]);
  const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
    Array.from({ length: w * h }, (_, at) => `${x + (at % w)},${y + Math.floor(at / w)}`),
  );
  expect(new Set(cells).size).toBe(cells.length);
});

test("a histogram counts each value in every bucket that it is not above", () => {
  const times = new Histogram({ name: "time_seconds", help: "Time.", labels: ["route"] }, [0.1, 1]);
  for (const value of [0.05, 0.1, 0.5, 3]) times.observe(value, ["a"]);
  expect(times.lines()).toEqual([
    "# HELP time_seconds Time.",
    "# TYPE time_seconds histogram",
    'time_seconds_bucket{route="a",le="0.1"} 2',
    'time_seconds_bucket{route="a",le="1"} 3',
    'time_seconds_bucket{route="a",le="+Inf"} 4',
    'time_seconds_sum{route="a"} 3.65',
    'time_seconds_count{route="a"} 4',
  ]);
});

test("a label keeps quotes and backslashes apart from its own", () => {
  const family = { name: "info", help: "Info.", labels: ["a", "b"] } as const;
  expect(writeGauge(family, [[['x"y', "c:\\d"], 1]]).at(-1)).toBe('info{a="x\\"y",b="c:\\\\d"} 1');
});

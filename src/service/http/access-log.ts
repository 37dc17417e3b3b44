/** What is remembered of each answered request: a log line and the counters of `/metrics`. */
import type { Clock } from "../../runtime/clock.ts";
import type { Log } from "../../runtime/log.ts";

export interface Answered {
  readonly requestId: string;
  readonly method: string;
  /** The endpoint's template; for what matches none, the path without what may name a person. Never a query. */
  readonly path: string;
  readonly route: string | null;
  readonly project: string | null;
  readonly status: number;
  readonly startedMs: number;
}

export interface AccessLog {
  readonly add: (answered: Answered) => void;
  /** In Prometheus' text format. */
  readonly metrics: () => string;
}

interface Count {
  requests: number;
  seconds: number;
}

export function createAccessLog(log: Log, clock: Clock): AccessLog {
  const counts = new Map<string, Count>();
  return {
    add: ({ requestId, method, path, route, project, status, startedMs }) => {
      const durationMs = Math.round((clock.monotonic() - startedMs) * 1000) / 1000;
      const labels = `route="${route ?? "none"}",status="${status}"`;
      const count = counts.get(labels) ?? { requests: 0, seconds: 0 };
      counts.set(labels, { requests: count.requests + 1, seconds: count.seconds + durationMs / 1000 });
      log.info("request", { request_id: requestId, method, path, route, status, duration_ms: durationMs, project });
    },
    metrics: () =>
      [
        "# HELP surveyctl_requests_total Requests answered.",
        "# TYPE surveyctl_requests_total counter",
        ...[...counts].map(([labels, { requests }]) => `surveyctl_requests_total{${labels}} ${requests}`),
        "# HELP surveyctl_request_seconds_total Time spent answering them.",
        "# TYPE surveyctl_request_seconds_total counter",
        ...[...counts].map(([labels, { seconds }]) => `surveyctl_request_seconds_total{${labels}} ${seconds}`),
        "",
      ].join("\n"),
  };
}

/** A path that no endpoint has, without segments that look like an address, a number or a token. */
export function maskPath(path: string): string {
  return path
    .slice(0, 200)
    .split("/")
    .map((segment) => (/^[a-z_]{0,20}(?:\.json)?$/.test(segment) || segment === "v1" ? segment : "*"))
    .join("/");
}

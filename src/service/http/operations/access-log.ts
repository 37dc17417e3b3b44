/** The log line and metrics of each answered request. */
import type { Clock } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { createCounter, createHistogram, type Family, REQUEST_BUCKETS, writeFamily } from "../../../runtime/metrics.ts";

interface Answered {
  readonly requestId: string;
  readonly traceId: string | null;
  readonly method: string;
  /** The endpoint's template, or a masked path; never a query. */
  readonly path: string;
  /** Name of the endpoint or page, or null. */
  readonly route: string | null;
  readonly project: string | null;
  readonly status: number;
  readonly startedMs: number;
}

export interface AccessLog {
  /** Counts a request in flight until the returned function is called. */
  readonly begin: () => () => void;
  readonly add: (answered: Answered) => void;
  readonly metrics: () => readonly string[];
}

const REQUESTS: Family = {
  name: "surveyctl_http_requests_total",
  type: "counter",
  help: "Requests answered.",
  labels: ["route", "method", "status"],
};
const DURATION: Family = {
  name: "surveyctl_http_request_duration_seconds",
  type: "histogram",
  help: "Time from a request's head to its answer.",
  labels: ["route"],
};
const IN_FLIGHT: Family = {
  name: "surveyctl_http_requests_in_flight",
  type: "gauge",
  help: "Requests that are being answered.",
};
const RATE_LIMITED: Family = {
  name: "surveyctl_rate_limited_total",
  type: "counter",
  help: "Requests refused with 429.",
};

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE"]);

export function createAccessLog(log: Log, clock: Clock, engine: string): AccessLog {
  const requests = createCounter();
  const durations = createHistogram(DURATION, REQUEST_BUCKETS);
  const limited = createCounter([[]]);
  const state = { inFlight: 0 };
  return {
    begin: () => {
      state.inFlight += 1;
      return () => {
        state.inFlight -= 1;
      };
    },
    add: ({ requestId, traceId, method, path, route, project, status, startedMs }) => {
      const durationMs = Math.round((clock.monotonic() - startedMs) * 1000) / 1000;
      const label = route ?? "none";
      // Methods are chosen by callers, and each would be a new series.
      requests.add([label, METHODS.has(method) ? method : "other", String(status)]);
      durations.observe(durationMs / 1000, [label]);
      if (status === 429) limited.add();
      const trace = traceId === null ? undefined : { trace_id: traceId };
      const rest = { method, path, route, status, duration_ms: durationMs, project, engine };
      log.info("request", Object.assign({ request_id: requestId }, trace, rest));
    },
    metrics: () => [
      ...writeFamily(REQUESTS, requests.samples()),
      ...durations.lines(),
      ...writeFamily(IN_FLIGHT, [[[], state.inFlight]]),
      ...writeFamily(RATE_LIMITED, limited.samples()),
    ],
  };
}

/** Replaces path segments that look like an address, a number or a token. */
export function maskPath(path: string): string {
  return path
    .slice(0, 200)
    .split("/")
    .map((segment) => (/^[a-z_]{0,20}(?:\.json)?$/.test(segment) || segment === "v1" ? segment : "*"))
    .join("/");
}

/** The traces of each answered request: a log line, and counts for `/metrics`. */
import type { Clock } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { createCounter, createHistogram, type Family, REQUEST_BUCKETS, writeFamily } from "../../../runtime/metrics.ts";

interface Answered {
  readonly requestId: string;
  /** Of the trace that the caller takes part in; null for none. */
  readonly traceId: string | null;
  readonly method: string;
  /** The endpoint's template; for what matches none, the path without what may name a person. Never a query. */
  readonly path: string;
  /** The endpoint's name, or that of a kind of page; null for what is neither. */
  readonly route: string | null;
  readonly project: string | null;
  readonly status: number;
  readonly startedMs: number;
}

export interface AccessLog {
  /** Counts a request that is being answered, until the function that it returns is called. */
  readonly begin: () => () => void;
  readonly add: (answered: Answered) => void;
  /** Lines in Prometheus' text format. */
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

/** `engine` is the store's, for each line. */
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
      // Callers choose the method, and each new one would be a series.
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

/** A path that no endpoint has, without segments that look like an address, a number or a token. */
export function maskPath(path: string): string {
  return path
    .slice(0, 200)
    .split("/")
    .map((segment) => (/^[a-z_]{0,20}(?:\.json)?$/.test(segment) || segment === "v1" ? segment : "*"))
    .join("/");
}

import type { Clock } from "../../../runtime/clock.ts";
import type { Log } from "../../../runtime/log.ts";
import { Counter, Histogram, REQUEST_BUCKETS, writeGauge } from "../../../runtime/metrics.ts";

interface Answered {
  readonly requestId: string;
  readonly traceId: string | null;
  readonly method: string;
  readonly path: string;
  readonly route: string | null;
  readonly project: string | null;
  readonly status: number;
  readonly startedMs: number;
}

const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "DELETE"]);
const QUIET_MS = 60_000;
const REMEMBERED_MAX = 10_000;

export class AccessLog {
  readonly #log: Log;
  readonly #clock: Clock;
  readonly #engine: string;
  readonly #requests = new Counter({
    name: "surveyctl_http_requests_total",
    help: "Requests answered.",
    labels: ["route", "method", "status"],
  });
  readonly #durations = new Histogram(
    {
      name: "surveyctl_http_request_duration_seconds",
      help: "Time from a request's head to its answer.",
      labels: ["route"],
    },
    REQUEST_BUCKETS,
  );
  readonly #limited = new Counter({ name: "surveyctl_rate_limited_total", help: "Requests refused with 429." }, [[]]);
  readonly #refused = new Counter(
    {
      name: "surveyctl_refused_total",
      help: "Requests refused for their key, or for what the key may not do.",
      labels: ["reason"],
    },
    [["key"], ["access"]],
  );
  readonly #refusalLoggedMs = new Map<string, number>();
  #inFlight = 0;

  constructor(log: Log, clock: Clock, engine: string) {
    this.#log = log;
    this.#clock = clock;
    this.#engine = engine;
  }

  begin(): void {
    this.#inFlight += 1;
  }

  end(): void {
    this.#inFlight -= 1;
  }

  add({ requestId, traceId, method, path, route, project, status, startedMs }: Answered): void {
    const durationMs = Math.round((this.#clock.monotonic() - startedMs) * 1000) / 1000;
    const label = route ?? "none";
    // Clients can send any method, and each new one would create a series.
    this.#requests.add([label, METHODS.has(method) ? method : "other", String(status)]);
    this.#durations.observe(durationMs / 1000, [label]);
    if (status === 429) this.#limited.add();
    const trace = traceId === null ? undefined : { trace_id: traceId };
    const rest = { method, path, route, status, duration_ms: durationMs, project, engine: this.#engine };
    this.#log.info("request", Object.assign({ request_id: requestId }, trace, rest));
  }

  /** Logged once a minute for each address and reason. */
  addRefusal(reason: "key" | "access", address = "local"): void {
    this.#refused.add([reason]);
    const now = this.#clock.monotonic();
    const caller = `${reason} ${address}`;
    const logged = this.#refusalLoggedMs;
    if (now - (logged.get(caller) ?? -Infinity) < QUIET_MS) return;
    if (logged.size >= REMEMBERED_MAX) logged.clear();
    logged.set(caller, now);
    this.#log.warn("refused", { reason, ip: address });
  }

  metrics(): readonly string[] {
    const inFlight = { name: "surveyctl_http_requests_in_flight", help: "Requests that are being answered." };
    return [
      ...this.#requests.lines(),
      ...this.#durations.lines(),
      ...writeGauge(inFlight, this.#inFlight),
      ...this.#limited.lines(),
      ...this.#refused.lines(),
    ];
  }
}

/** Replaces path segments that look like an address, a number or a token. */
export function maskPath(path: string): string {
  return path
    .slice(0, 200)
    .split("/")
    .map((segment) => (/^[a-z_]{0,20}(?:\.json)?$/.test(segment) || segment === "v1" ? segment : "*"))
    .join("/");
}

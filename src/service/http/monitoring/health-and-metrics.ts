import type { HttpResponse } from "../../../contract/http.ts";
import { type Clock, withTimeout } from "../../../runtime/clock.ts";
import { readAtMostEvery } from "../../../runtime/metrics.ts";
import type { Store } from "../../domain/ports.ts";
import { isSameText } from "../../domain/secrets.ts";
import { readLead } from "../../domain/write-time.ts";
import { errorReply, HttpError, jsonReply } from "../replies.ts";

/** `local` means a call from this process. */
export type Listener = "main" | "local" | "metrics";

export interface OperatorOptions {
  readonly store: Pick<Store, "read">;
  readonly clock: Clock;
  readonly publicUrl: string | null;
  readonly metricsToken?: string | null;
  readonly isReady: () => boolean;
  readonly metrics: () => Promise<string>;
}

interface OperatorRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly from?: string;
}

const READY_KEPT_MS = 1000;
/** Results are cached for a second, so a lost database is reported within six seconds. */
const DATABASE_TIMEOUT_MS = 4000;
const PAGES: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/metrics"]);

export class OperatorPages {
  readonly #options: OperatorOptions;
  /** Null if the store doesn't respond. */
  readonly #readLead: () => Promise<number | null>;

  constructor(options: OperatorOptions) {
    const { store, clock } = options;
    this.#options = options;
    this.#readLead = readAtMostEvery(clock, READY_KEPT_MS, () =>
      withTimeout(clock, DATABASE_TIMEOUT_MS, store.read(readLead), null).catch(() => null),
    );
  }

  has(path: string): boolean {
    return PAGES.has(path);
  }

  async show(path: string, request: OperatorRequest, listener: Listener): Promise<HttpResponse> {
    const isRead = request.method === "GET" || request.method === "HEAD";
    if (!isRead) return errorReply(new HttpError(405, undefined, { allow: "GET, HEAD" }));
    if (path === "/healthz") return jsonReply(200, { status: "ok" });
    return path === "/readyz" ? this.#readiness() : this.#metrics(request, listener);
  }

  async #readiness(): Promise<HttpResponse> {
    const { isReady } = this.#options;
    const lead = isReady() ? await this.#readLead() : null;
    if (lead === null || !isReady()) return errorReply(new HttpError(503));
    return jsonReply(200, { status: "ready", ...(lead > 0 && { clock_behind_seconds: lead }) });
  }

  async #metrics(request: OperatorRequest, listener: Listener): Promise<HttpResponse> {
    const error = refuseReader(request, listener, this.#options);
    if (error !== null) return errorReply(error);
    const headers = { "content-type": "text/plain; version=0.0.4; charset=utf-8" };
    return { status: 200, headers, body: await this.#options.metrics() };
  }
}

/** Totals reveal business figures, so without a token only callers on this machine get them. */
function refuseReader(
  { headers, from }: OperatorRequest,
  listener: Listener,
  { publicUrl, metricsToken = null }: OperatorOptions,
): HttpError | null {
  if (listener === "local") return null;
  const given = /^bearer +(\S+) *$/i.exec(headers.authorization ?? "")?.[1];
  if (metricsToken !== null && given !== undefined) return isSameText(given, metricsToken) ? null : unauthorized();
  // Requests forwarded by a proxy on this machine can come from anywhere.
  const isForwarded = headers.forwarded !== undefined || headers["x-forwarded-for"] !== undefined;
  const isHere = isLoopback(from) && !isForwarded;
  if (listener === "metrics" ? isHere || metricsToken === null : isHere && publicUrl === null) return null;
  return metricsToken === null ? new HttpError(404) : unauthorized();
}

function unauthorized(): HttpError {
  return new HttpError(401, undefined, { "www-authenticate": 'Bearer realm="metrics"' });
}

function isLoopback(from: string | undefined): boolean {
  return from === undefined || from === "::1" || /^(?:::ffff:)?127\./.test(from);
}

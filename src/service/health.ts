/** The readiness of a service for work, as `/readyz` says it. */
import type { Exchange } from "../contract/http.ts";
import type { Clock } from "../runtime/clock.ts";

/** Null when the service is ready, else why it is not, as the end of a sentence that begins with it. */
export type Unready = string | null;

/** The check ends within 5 seconds, less than what container engines give it. */
const PATIENCE_MS = 4000;
const LATE = `does not answer within ${PATIENCE_MS / 1000} s`;

/** Asks the service at this address; no slash at its end. */
export async function askService(exchange: Exchange, url: string, clock: Clock): Promise<Unready> {
  const late = new AbortController();
  const alarm = new AbortController();
  const ring = (): void => late.abort(new Error("no answer in time"));
  void clock.sleep(PATIENCE_MS, alarm.signal).then(ring, () => undefined);
  try {
    const { status } = await exchange({ method: "GET", url: `${url}/readyz`, headers: {}, signal: late.signal });
    return status === 200 ? null : `is not ready (status ${status})`;
  } catch (error) {
    return late.signal.aborted ? LATE : `does not answer (${reasonOf(error)})`;
  } finally {
    alarm.abort();
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause ? String(cause.code) : "") || cause.message : "unknown";
}

/** The readiness of a service for work, as `/readyz` says it. */
import type { Exchange } from "../contract/http.ts";
import type { Clock } from "../runtime/clock.ts";
import { startDeadline } from "../runtime/http-exchange.ts";

/** Null when the service is ready, else why it is not, as the end of a sentence that begins with it. */
export type Unready = string | null;

/** The check ends within 5 seconds, less than what container engines give it. */
const PATIENCE_MS = 4000;
const LATE = `does not answer within ${PATIENCE_MS / 1000} s`;

/** Asks the service at this address; no slash at its end. */
export async function askService(exchange: Exchange, url: string, clock: Clock): Promise<Unready> {
  const deadline = startDeadline(clock, PATIENCE_MS);
  try {
    const { status } = await exchange({ method: "GET", url: `${url}/readyz`, headers: {}, signal: deadline.signal });
    return status === 200 ? null : `is not ready (status ${status})`;
  } catch (error) {
    return deadline.isOver() ? LATE : `does not answer (${reasonOf(error)})`;
  } finally {
    deadline.stop();
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause ? String(cause.code) : "") || cause.message : "unknown";
}

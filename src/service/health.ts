import type { Exchange } from "../contract/http.ts";
import type { Clock } from "../runtime/clock.ts";
import { startDeadline } from "../runtime/http-exchange.ts";

/** Null if ready; otherwise the reason, phrased as the end of a sentence. */
export type Unready = string | null;

/** Container engines give a health check at least 5 seconds, so this is shorter. */
const TIMEOUT_MS = 4000;
const LATE = `does not answer within ${TIMEOUT_MS / 1000} s`;

export async function askService(exchange: Exchange, url: string, clock: Clock): Promise<Unready> {
  const deadline = startDeadline(clock, TIMEOUT_MS);
  try {
    const { status } = await exchange({ method: "GET", url: `${url}/readyz`, headers: {}, signal: deadline.signal });
    return status === 200 ? null : `is not ready (status ${status})`;
  } catch (error) {
    return deadline.isOver() ? LATE : `does not answer (${networkReason(error)})`;
  } finally {
    deadline.stop();
  }
}

function networkReason(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause ? String(cause.code) : "") || cause.message : "unknown";
}

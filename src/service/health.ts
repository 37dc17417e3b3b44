/** The readiness of a service for work, as `/readyz` says it. */
import type { Exchange } from "../contract/http.ts";
import type { Clock } from "../runtime/clock.ts";
import { startDeadline } from "../runtime/http-exchange.ts";
import { readAtMost } from "../runtime/pipe-reader.ts";

/** Null when the service is ready, else why it is not, as the end of a sentence that begins with it. */
export type Unready = string | null;

export interface Health {
  readonly unready: Unready;
  /** See `readLead`. */
  readonly lead: number;
}

/** The check ends within 5 seconds, less than what container engines give it. */
const PATIENCE_MS = 4000;
const BODY_BYTES_MAX = 4096;
const LATE = `does not answer within ${PATIENCE_MS / 1000} s`;

/** Asks the service at this address; no slash at its end. */
export async function askService(exchange: Exchange, url: string, clock: Clock): Promise<Health> {
  const deadline = startDeadline(clock, PATIENCE_MS);
  try {
    const request = { method: "GET", url: `${url}/readyz`, headers: {}, signal: deadline.signal } as const;
    const { status, body } = await exchange(request);
    const text = typeof body === "string" ? body : String(await readAtMost(body, BODY_BYTES_MAX));
    const lead = Number(/"clock_behind_seconds":(\d+)/.exec(text)?.[1] ?? 0);
    return { unready: status === 200 ? null : `is not ready (status ${status})`, lead };
  } catch (error) {
    return { unready: deadline.isOver() ? LATE : `does not answer (${reasonOf(error)})`, lead: 0 };
  } finally {
    deadline.stop();
  }
}

function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  return cause instanceof Error ? ("code" in cause ? String(cause.code) : "") || cause.message : "unknown";
}

import type { DueSurvey } from "../ports.ts";
import type { DeliveryOutcome } from "./sender.ts";

/** Seconds between attempts. The first retry comes within a minute; the second is late enough for greylisting. */
export const FIRST_RETRY_SECONDS = 45;
const RETRY_STEPS: readonly number[] = [FIRST_RETRY_SECONDS, 300, 900, 1800, 3600, 7200, 14_400];

const JITTER = 0.15;
const GIVE_UP_SECONDS = 72 * 3600;

/** The delay after this many attempts; `fraction` (0 to 1) changes it by up to 15%. */
export function retryDelaySeconds(attempts: number, fraction: number): number {
  const step = RETRY_STEPS[Math.min(attempts - 1, RETRY_STEPS.length - 1)] ?? 0;
  return Math.round(step * (1 - JITTER + 2 * JITTER * fraction));
}

/**
 * Gives up 72 hours after the first attempt or the operator's resend. `leastSeconds` is the shortest delay that the
 * server allows.
 */
export function retryOrGiveUp(
  due: Pick<DueSurvey, "attempts" | "scheduledAt" | "firstAttemptAt">,
  {
    now,
    fraction,
    leastSeconds = 0,
  }: { readonly now: number; readonly fraction: number; readonly leastSeconds?: number },
): DeliveryOutcome {
  const { attempts, scheduledAt, firstAttemptAt } = due;
  if (firstAttemptAt !== null && now - Math.max(firstAttemptAt, scheduledAt) >= GIVE_UP_SECONDS)
    return { kind: "failed", reason: "not accepted within 72 hours" };
  return { kind: "retry", delaySeconds: Math.max(retryDelaySeconds(attempts + 1, fraction), leastSeconds) };
}

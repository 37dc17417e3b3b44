import { badValue } from "./bad-value.ts";
import { PERIOD_SECONDS } from "./numbers.ts";

export interface RequestLimit {
  readonly requests: number;
  readonly periodSeconds: number;
}

/** A limit of requests: `10/s`, `600/m`, `5000/h`; a number alone is a second's. Throws UsageError. */
export function parseRateLimit(text: string, place: string): RequestLimit {
  const match = /^(\d{1,9})(?:\/([smh]))?$/.exec(text.trim());
  const requests = Number(match?.[1] ?? 0);
  if (requests < 1) throw badValue(place, text, "a limit such as 10/s or 600/m");
  return { requests, periodSeconds: PERIOD_SECONDS[(match?.[2] ?? "s") as keyof typeof PERIOD_SECONDS] };
}

/** The load that the server accepts: concurrency and pace rise slowly with successes, and a 429 cuts both. */
export interface Pressure {
  /** Maximum concurrent requests. A 429 or 503 halves it; a full round of successes adds one. */
  readonly limit: number;
  readonly limitMax: number;
  /** Requests started per second. `Infinity` until the first 429 that follows a success. */
  readonly perSecond: number;
  /** Successes before the first 429; `acceptedThisRound` counts those since the limit last rose. */
  readonly accepted: number;
  readonly acceptedThisRound: number;
  /** Whether a request has succeeded since the last 429; a burst of 429s counts once. */
  readonly isProven: boolean;
  readonly beganAtMs: number;
  /** Responses to requests that started before this time are ignored. */
  readonly cutAtMs: number;
}

export function initialPressure(limitMax: number, nowMs: number): Pressure {
  return {
    limit: limitMax,
    limitMax,
    perSecond: Number.POSITIVE_INFINITY,
    accepted: 0,
    acceptedThisRound: 0,
    isProven: false,
    beganAtMs: nowMs,
    cutAtMs: Number.NEGATIVE_INFINITY,
  };
}

export function afterAccepted(pressure: Pressure, startedAtMs: number): Pressure {
  if (startedAtMs <= pressure.cutAtMs) return pressure;
  const round = pressure.acceptedThisRound + 1;
  const full = round >= pressure.limit;
  return {
    ...pressure,
    accepted: pressure.accepted + 1,
    acceptedThisRound: full ? 0 : round,
    isProven: true,
    limit: full ? Math.min(pressure.limit + 1, pressure.limitMax) : pressure.limit,
    perSecond: pressure.perSecond * CLIMB,
  };
}

/** After a 503, allows fewer concurrent requests at the same pace. */
export function afterPause(pressure: Pressure, nowMs: number): Pressure {
  return { ...pressure, limit: Math.max(1, Math.floor(pressure.limit / 2)), acceptedThisRound: 0, cutAtMs: nowMs };
}

const SLOWEST = 1 / 30;
/** With these factors, at least 270 requests succeed between two 429s of a server that limits the rate. */
const CUT = 0.85;
const CLIMB = 1.0006;
/** A full token bucket absorbs the first burst, so the rate before the first 429 exceeds the real limit. */
const FIRST_CUT = 0.5;

export function afterThrottled(pressure: Pressure, nowMs: number): Pressure {
  const paused = { ...afterPause(pressure, nowMs), isProven: false };
  // A 429 to the very first requests, or right after another one, says nothing about the limit.
  if (!pressure.isProven) return paused;
  const isFirst = pressure.perSecond === Number.POSITIVE_INFINITY;
  const seconds = Math.max(nowMs - pressure.beganAtMs, 1) / 1000;
  const cut = isFirst ? (pressure.accepted / seconds) * FIRST_CUT : pressure.perSecond * CUT;
  return { ...paused, perSecond: Math.max(cut, SLOWEST) };
}

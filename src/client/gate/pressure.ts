/**
 * The load that the service may be given, learned from its answers: the requests at once and the pace at which they
 * start rise little by little with good answers, and a 429 cuts both by a factor. Plain data and pure functions;
 * `gate.ts` applies them.
 */
export interface Pressure {
  /** Requests at once: halved by a 429 or 503, one more after a round of good answers. */
  readonly limit: number;
  readonly limitMax: number;
  /** Starts a second; `Infinity` before the first 429 that follows a good answer. */
  readonly perSecond: number;
  /** Good answers until the first 429, and since the limit last rose. */
  readonly accepted: number;
  readonly acceptedThisRound: number;
  /** True when there was a good answer since the last 429: those of one storm say the same. */
  readonly isProven: boolean;
  readonly beganAtMs: number;
  /** Answers to requests that started before this moment belong to the time before the last cut. */
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

/** A pause that the service asked for without a word about the rate (503): fewer at once, the same pace. */
export function afterPause(pressure: Pressure, nowMs: number): Pressure {
  return { ...pressure, limit: Math.max(1, Math.floor(pressure.limit / 2)), acceptedThisRound: 0, cutAtMs: nowMs };
}

/** One request in so many seconds is the slowest pace. */
const SLOWEST = 1 / 30;
/** Cut and climb together: at least 270 good answers lie between two 429s of a service that limits the rate. */
const CUT = 0.85;
const CLIMB = 1.0006;
/** A bucket that was empty took a burst, so what was accepted before the first 429 is more than the service takes. */
const FIRST_CUT = 0.5;

export function afterThrottled(pressure: Pressure, nowMs: number): Pressure {
  const paused = { ...afterPause(pressure, nowMs), isProven: false };
  // A 429 to the very first requests, or right after another, measures nothing; the pause alone has to do.
  if (!pressure.isProven) return paused;
  const isFirst = pressure.perSecond === Number.POSITIVE_INFINITY;
  const seconds = Math.max(nowMs - pressure.beganAtMs, 1) / 1000;
  const cut = isFirst ? (pressure.accepted / seconds) * FIRST_CUT : pressure.perSecond * CUT;
  return { ...paused, perSecond: Math.max(cut, SLOWEST) };
}

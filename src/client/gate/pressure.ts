import { firstPace, paceAfterThrottled, paceClimbed, UNPACED, type Pace } from "./pace.ts";

/** How hard the service may be pushed, learned from its answers. Plain data and pure functions; `gate.ts` applies them. */
export interface Pressure {
  /** Requests at once: halved by a 429 or 503, one more after a whole round of good answers (AIMD). */
  readonly limit: number;
  readonly limitMax: number;
  readonly pace: Pace;
  /** Good answers since the last 429, and since the limit last rose. */
  readonly accepted: number;
  readonly acceptedThisRound: number;
  readonly countedFromMs: number;
  /** How long everybody paused since `countedFromMs`. */
  readonly pausedMs: number;
  /** Answers to requests that started before this moment tell about the time before the last cut. */
  readonly cutAtMs: number;
}

/** Before the first answer: as many at once as allowed, at no pace. */
export function initialPressure(limitMax: number, nowMs: number): Pressure {
  return {
    limit: limitMax,
    limitMax,
    pace: UNPACED,
    accepted: 0,
    acceptedThisRound: 0,
    countedFromMs: nowMs,
    pausedMs: 0,
    cutAtMs: Number.NEGATIVE_INFINITY,
  };
}

/** A good answer to a request that started at `startedAtMs`. */
export function afterAccepted(pressure: Pressure, startedAtMs: number): Pressure {
  if (startedAtMs <= pressure.cutAtMs) return pressure;
  const round = pressure.acceptedThisRound + 1;
  const full = round >= pressure.limit;
  return {
    ...pressure,
    accepted: pressure.accepted + 1,
    acceptedThisRound: full ? 0 : round,
    limit: full ? Math.min(pressure.limit + 1, pressure.limitMax) : pressure.limit,
    pace: paceClimbed(pressure.pace),
  };
}

/** A pause that the service asked for without a word about the rate (503): fewer at once, the same pace. */
export function afterPause(pressure: Pressure, nowMs: number): Pressure {
  return { ...pressure, limit: Math.max(1, Math.floor(pressure.limit / 2)), acceptedThisRound: 0, cutAtMs: nowMs };
}

/** Of the time between two 429s, the share of pauses above which a measure is rough. */
const ROUGH_SHARE = 0.25;

/** A 429 that asks for a pause: fewer at once, and slower. */
export function afterThrottled(pressure: Pressure, nowMs: number, pauseMs: number): Pressure {
  const rest = { ...afterPause(pressure, nowMs), accepted: 0, countedFromMs: nowMs, pausedMs: pauseMs };
  // Refused again before anything was taken: the same trouble goes on, and tells no more about the rate.
  if (pressure.pace !== UNPACED && pressure.accepted === 0) return rest;
  const elapsedMs = Math.max(nowMs - pressure.countedFromMs, 1);
  const taken = (pressure.accepted * 1000) / elapsedMs;
  const known = pressure.accepted < 2 ? null : taken;
  const rough = pressure.pausedMs > elapsedMs * ROUGH_SHARE;
  const pace = pressure.pace === UNPACED ? paceOfFirst(taken) : paceAfterThrottled(pressure.pace, known, rough);
  return { ...rest, pace };
}

/** A 429 to the very first requests is somebody else's doing: nothing was measured, so the pause alone must do. */
function paceOfFirst(taken: number): Pace {
  return taken === 0 ? UNPACED : firstPace(taken);
}

/**
 * The pace at which requests start, learned from 429s. Between two 429s a leaky bucket was full at both ends, so what
 * it took in between, pauses included, is exactly what leaks; fixed windows give the same figure. One such measure may
 * be chance; two that agree are believed, until a 429 below the believed rate refutes them.
 */
export interface Pace {
  /** Starts a second; `Infinity` before the first 429. */
  readonly perSecond: number;
  /** What the service takes a second, believed; null while unknown. */
  readonly believed: number | null;
  /** Measured mostly while everybody paused: a small bucket runs dry in a pause, so the true rate may be higher. */
  readonly rough: boolean;
  /** The last measure, not yet believed. */
  readonly suspected: number | null;
  /** The pace before `believed` was: where to return when it is refuted. */
  readonly before: number;
}

export const UNPACED: Pace = {
  perSecond: Number.POSITIVE_INFINITY,
  believed: null,
  rough: false,
  suspected: null,
  before: Number.POSITIVE_INFINITY,
};

/** Near the believed rate the pace climbs so slowly that a thousand requests meet one or two 429s. */
const CLIMB_NEAR = 0.00002;
/** Past it, or where it was measured roughly, the service may well take more. */
const CLIMB_PAST = 0.001;
/** Nothing is known yet, or no longer. */
const CLIMB_FAR = 0.002;
const PAST = 1.03;
const FAR = 2;

/** The pace after one more good answer. */
export function paceClimbed(pace: Pace): Pace {
  if (pace.perSecond === Number.POSITIVE_INFINITY) return pace;
  return { ...pace, perSecond: pace.perSecond * (1 + climbOf(pace)) };
}

function climbOf({ perSecond, believed, rough }: Pace): number {
  if (believed === null || perSecond > believed * FAR) return CLIMB_FAR;
  return rough || perSecond > believed * PAST ? CLIMB_PAST : CLIMB_NEAR;
}

/** One request in so many seconds is the slowest pace. */
const SLOWEST = 1 / 30;
const HEADROOM = 0.97;
const CUT = 0.7;
const AGREEMENT = 0.2;

/** The first 429: half of what went through so far, since a bucket that was empty took a burst. */
export function firstPace(taken: number): Pace {
  const perSecond = Math.max(taken / 2, SLOWEST);
  return { ...UNPACED, perSecond, before: perSecond };
}

/**
 * A further 429; `taken` is what was accepted a second since the last one, null when that was next to nothing.
 * `rough` when most of that time was a pause.
 */
export function paceAfterThrottled(pace: Pace, taken: number | null, rough: boolean): Pace {
  const cut = { ...pace, perSecond: Math.max(pace.perSecond * CUT, SLOWEST) };
  if (pace.believed !== null && pace.perSecond < pace.believed) return refuted(pace);
  if (taken === null) return cut;
  if (pace.believed === null && !agree(pace.suspected, taken)) return { ...cut, suspected: taken };
  return {
    perSecond: Math.max(taken * HEADROOM, SLOWEST),
    believed: taken,
    rough,
    suspected: null,
    before: pace.believed === null ? pace.perSecond : pace.before,
  };
}

function refuted({ before }: Pace): Pace {
  const perSecond = Math.max(before * CUT, SLOWEST);
  return { ...UNPACED, perSecond, before: perSecond };
}

function agree(one: number | null, other: number): boolean {
  return one !== null && Math.abs(one - other) <= AGREEMENT * Math.max(one, other);
}

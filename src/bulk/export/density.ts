/** How close rows lie in time, learnt while they are read. */
export interface Density {
  /** Rows that this many seconds are expected to hold. */
  rowsIn(seconds: number): number;
  /** Seconds that are expected to hold this many rows, at least 1. */
  secondsFor(rows: number): number;
  /** What a finished stretch showed. */
  learn(rows: number, seconds: number): void;
}

/** A stretch without rows says little about how few there are: the guess falls to an eighth. */
const EMPTY_FACTOR = 8;
/** So much a new observation counts against what is known. */
const NEW_SHARE = 0.5;

export function createDensity(rows: number, seconds: number): Density {
  let perSecond = Math.max(rows, 1) / Math.max(seconds, 1);
  return {
    rowsIn: (span) => perSecond * span,
    secondsFor: (count) => Math.max(1, Math.floor(count / perSecond)),
    learn(count, span) {
      const seen = count === 0 ? perSecond / EMPTY_FACTOR : count / Math.max(span, 1);
      perSecond = count === 0 ? seen : perSecond * (1 - NEW_SHARE) + seen * NEW_SHARE;
    },
  };
}

import { onAbort } from "./on-abort.ts";

export interface Clock {
  now(): number;
  /** Milliseconds from an arbitrary start, never set back. */
  monotonic(): number;
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => {
    // `performance` would load another module.
    const time = process.hrtime();
    return time[0] * 1000 + time[1] / 1e6;
  },
  async sleep(ms, signal) {
    for (let left = ms; left > 0; left -= LONGEST_TIMER_MS) await sleepOnce(Math.min(left, LONGEST_TIMER_MS), signal);
    signal?.throwIfAborted();
  },
};

function sleepOnce(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(signal.reason as Error);
      return;
    }
    const timer = setTimeout(() => {
      stopWaiting();
      resolve();
    }, ms);
    const stopWaiting = onAbort(signal, () => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    });
  });
}

export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000);
}

export function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** Resolves with `late` after `ms` milliseconds; `work` continues. */
export async function withTimeout<Value, Late>(
  clock: Pick<Clock, "sleep">,
  ms: number,
  work: Promise<Value>,
  late: Late,
): Promise<Value | Late> {
  const done = new AbortController();
  const isLate = clock.sleep(ms, done.signal).then(
    () => late,
    () => late,
  );
  try {
    return await Promise.race([work, isLate]);
  } finally {
    done.abort();
  }
}

/** Without a reason, `abort` creates a DOMException, which costs more than setting the alarm. */
const MOVED = "moved";

/**
 * A timeout that often moves and rarely fires. Moving it later costs nothing, because the sleeper checks the time when
 * it wakes.
 */
export class Alarm {
  readonly #clock: Clock;
  #ringsAt = Infinity;
  #wakesAt = Infinity;
  #ring = (): void => undefined;
  #nap: AbortController | null = null;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  set(ms: number, ring: () => void): void {
    this.#ringsAt = this.#clock.monotonic() + ms;
    this.#ring = ring;
    if (this.#ringsAt < this.#wakesAt) void this.#sleep();
  }

  pause(): void {
    this.#ringsAt = Infinity;
  }

  clear(): void {
    this.#ringsAt = Infinity;
    this.#wakesAt = Infinity;
    this.#nap?.abort(MOVED);
    this.#nap = null;
  }

  async #sleep(): Promise<void> {
    this.#nap?.abort(MOVED);
    const nap = new AbortController();
    this.#nap = nap;
    this.#wakesAt = this.#ringsAt;
    try {
      await this.#clock.sleep(this.#ringsAt - this.#clock.monotonic(), nap.signal);
    } catch {
      return;
    }
    this.#wakesAt = Infinity;
    if (this.#ringsAt > this.#clock.monotonic()) {
      if (this.#ringsAt < Infinity) void this.#sleep();
      return;
    }
    this.#ringsAt = Infinity;
    this.#ring();
  }
}

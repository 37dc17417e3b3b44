import type { Clock } from "./clock.ts";

/** Works, sleeps until the next work is due, and can be woken. */
export interface WakeLoop {
  /** A second call does nothing. */
  readonly start: () => void;
  /** There may be work, now or at `dueAt` (Unix seconds). */
  readonly wake: (dueAt?: number) => void;
  /** Aborted when the loop should end. */
  readonly stopping: AbortSignal;
  /** Resolves when the current turn has ended; starts no more. */
  readonly stop: () => Promise<void>;
}

/** For example on a full disk. */
const AFTER_ERROR_MS = 2_000;
const REST_MIN_MS = 20;
/** Because the wall clock can be changed while we sleep. */
const REST_MAX_MS = 60_000;
/** A default abort reason would cost more than the rest of `wake`. */
const WOKEN = "woken";

async function sleepUnlessWoken(clock: Clock, ms: number, woken: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, woken);
  } catch (error) {
    if (!woken.aborted) throw error;
  }
}

/**
 * `turn` resolves with the time of the next one in Unix seconds, or null to wait for `wake`. Rejections are reported.
 */
export function createWakeLoop(
  clock: Clock,
  turn: () => Promise<number | null>,
  onError: (error: unknown) => void,
): WakeLoop {
  const stopping = new AbortController();
  const state = {
    loop: null as Promise<void> | null,
    /** Earliest time it was woken for since the last turn began. */
    wokenForMs: Infinity,
    nap: null as AbortController | null,
    restsUntilMs: 0,
  };

  const rest = async (ms: number): Promise<void> => {
    if (ms <= 0 || state.wokenForMs < state.restsUntilMs || stopping.signal.aborted) return;
    state.nap = new AbortController();
    await sleepUnlessWoken(clock, ms, state.nap.signal);
    state.nap = null;
  };
  /** Returns the milliseconds to sleep. */
  const work = async (): Promise<number> => {
    try {
      const dueAt = await turn();
      const nowMs = clock.now();
      const ms = dueAt === null ? REST_MAX_MS : Math.min(Math.max(dueAt * 1000 - nowMs, REST_MIN_MS), REST_MAX_MS);
      state.restsUntilMs = Math.min(nowMs + ms, state.wokenForMs);
      return state.restsUntilMs - nowMs;
    } catch (error) {
      onError(error);
      // What woke it during the failed turn waits as well; a later wake-up works immediately.
      state.wokenForMs = Infinity;
      state.restsUntilMs = Infinity;
      return AFTER_ERROR_MS;
    }
  };
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      state.wokenForMs = Infinity;
      await rest(await work());
    }
  };
  return {
    start: () => {
      state.loop ??= loop();
    },
    wake: (dueAt = 0) => {
      const dueMs = dueAt * 1000;
      state.wokenForMs = Math.min(state.wokenForMs, dueMs);
      if (dueMs < state.restsUntilMs) state.nap?.abort(WOKEN);
    },
    stopping: stopping.signal,
    stop: async () => {
      stopping.abort();
      state.nap?.abort(WOKEN);
      await state.loop;
    },
  };
}

/** Notifies listeners of work, now or at `dueAt` (Unix seconds). */
export interface Signal {
  readonly call: (dueAt?: number) => void;
  readonly answer: (work: (dueAt?: number) => void) => void;
}

export function createSignal(): Signal {
  const answers: ((dueAt?: number) => void)[] = [];
  return {
    call: (dueAt) => {
      for (const work of answers) work(dueAt);
    },
    answer: (work) => void answers.push(work),
  };
}

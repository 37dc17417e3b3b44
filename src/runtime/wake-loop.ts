import type { Clock } from "./clock.ts";

/** A loop that works, sleeps until its next work is due, and can be woken. */
export interface WakeLoop {
  /** Starts it; a second call changes nothing. */
  readonly start: () => void;
  /**
   * Says that there may be work, now or at `dueAt`, Unix seconds. Cheap, above all when it would look by then anyway.
   */
  readonly wake: (dueAt?: number) => void;
  /** Aborted as soon as the loop is to end. */
  readonly stopping: AbortSignal;
  /** Begins no more turns, and resolves when the one that runs has ended. */
  readonly stop: () => Promise<void>;
}

/** A full disk for one: what waits goes on soon after there is room. */
const AFTER_ERROR_MS = 2_000;
const REST_MIN_MS = 20;
/** The wall clock may be set while we sleep. */
const REST_MAX_MS = 60_000;
/** A reason of our own: making the usual one costs more than the rest. */
const WOKEN = "woken";

async function sleepUnlessWoken(clock: Clock, ms: number, woken: AbortSignal): Promise<void> {
  try {
    await clock.sleep(ms, woken);
  } catch (error) {
    if (!woken.aborted) throw error;
  }
}

/**
 * `turn` resolves with when the next one is due, Unix seconds; null for not before `wake`. What it rejects with is
 * told.
 */
export function createWakeLoop(
  clock: Clock,
  turn: () => Promise<number | null>,
  onError: (error: unknown) => void,
): WakeLoop {
  const stopping = new AbortController();
  const state = {
    loop: null as Promise<void> | null,
    /** The earliest that it was woken for since the last turn began. */
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
  /** Milliseconds to rest. */
  const work = async (): Promise<number> => {
    try {
      const dueAt = await turn();
      const nowMs = clock.now();
      const ms = dueAt === null ? REST_MAX_MS : Math.min(Math.max(dueAt * 1000 - nowMs, REST_MIN_MS), REST_MAX_MS);
      state.restsUntilMs = Math.min(nowMs + ms, state.wokenForMs);
      return state.restsUntilMs - nowMs;
    } catch (error) {
      onError(error);
      // A moment that has woken it meanwhile fails as this did; one that wakes it later does at once.
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

/** Tells of work, now or at `dueAt`, Unix seconds, those that have asked to be told; often nobody has. */
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

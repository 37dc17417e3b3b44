import type { Clock } from "./clock.ts";

export interface WakeLoop {
  readonly start: () => void;
  /** Tells the loop that there may be work, now or at `dueAt` (Unix seconds). */
  readonly wake: (dueAt?: number) => void;
  readonly stopping: AbortSignal;
  /** Starts no more turns, and resolves when the current one has ended. */
  readonly stop: () => Promise<void>;
}

const AFTER_ERROR_MS = 2_000;
const REST_MIN_MS = 20;
/** Sleeps are capped because the wall clock can change during one. */
const REST_MAX_MS = 60_000;
/** Without a reason, `abort` creates a DOMException, which costs more than the rest of `wake`. */
const WOKEN = "woken";

/** `turn` resolves with the Unix time of the next turn, or null to wait for `wake`. Rejections are reported. */
export function createWakeLoop(
  clock: Clock,
  turn: () => Promise<number | null>,
  onError: (error: unknown) => void,
): WakeLoop {
  const stopping = new AbortController();
  const state = {
    loop: null as Promise<void> | null,
    wokenForMs: Infinity,
    nap: null as AbortController | null,
    restsUntilMs: 0,
  };

  const rest = async (ms: number): Promise<void> => {
    if (ms <= 0 || state.wokenForMs < state.restsUntilMs || stopping.signal.aborted) return;
    const nap = new AbortController();
    state.nap = nap;
    await clock.sleep(ms, nap.signal).catch((error: unknown) => {
      if (!nap.signal.aborted) throw error;
    });
    state.nap = null;
  };
  const work = async (): Promise<number> => {
    try {
      const dueAt = await turn();
      const nowMs = clock.now();
      const ms = dueAt === null ? REST_MAX_MS : Math.min(Math.max(dueAt * 1000 - nowMs, REST_MIN_MS), REST_MAX_MS);
      state.restsUntilMs = Math.min(nowMs + ms, state.wokenForMs);
      return state.restsUntilMs - nowMs;
    } catch (error) {
      onError(error);
      // Wake-ups that came during the failed turn also wait; later ones take effect immediately.
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

import type { Clock } from "../../runtime/clock.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import { afterAccepted, afterPause, afterThrottled, initialPressure } from "./pressure.ts";
import { createRateCeiling, createSpacing } from "./rate-ceiling.ts";

/** How a request that went through the gate ended, as far as the service's load is concerned. */
export type TurnEnding =
  | { readonly kind: "accepted" }
  /** Failed in a way that is unrelated to load. */
  | { readonly kind: "failed" }
  /** 429, or 503 (`rate` false): all workers wait for `pauseMs`. */
  | { readonly kind: "throttled"; readonly pauseMs: number; readonly rate: boolean };

/** A request's leave to run; `end` is called exactly once. */
export interface Turn {
  /** True when this ending opened a new pause, false when the process already knew. */
  end(ending: TurnEnding): boolean;
}

/** One for each process: every request of every worker passes it, so one 429 slows them all. */
export interface Gate {
  /** Resolves when the next request may start, in order of asking; rejects with the signal's reason. */
  enter(signal?: AbortSignal): Promise<Turn>;
}

export interface GateOptions {
  readonly clock: Clock;
  /** Requests at once, at most. */
  readonly concurrency: number;
  /** Requests started a second, never passed; null: as the service allows. */
  readonly ratePerSecond?: number | null;
}

interface Waiter {
  readonly resolve: (turn: Turn) => void;
}

/** Concurrency, ceiling and pace in one queue. */
export function createGate(options: GateOptions): Gate {
  const { clock } = options;
  const ceiling = options.ratePerSecond == null ? null : createRateCeiling(options.ratePerSecond);
  const spacing = createSpacing();
  const queue = new Set<Waiter>();
  let pressure = initialPressure(options.concurrency, clock.monotonic());
  let running = 0;
  let alarm: AbortController | null = null;

  function begin(nowMs: number): Turn {
    running += 1;
    ceiling?.started(nowMs);
    spacing.started(nowMs, pressure.perSecond);
    return { end: (ending) => end(ending, nowMs) };
  }

  function end(ending: TurnEnding, startedAt: number): boolean {
    running -= 1;
    const opened = ending.kind === "throttled" && slowDown(ending, startedAt);
    if (ending.kind === "accepted") pressure = afterAccepted(pressure, startedAt);
    pump();
    return opened;
  }

  function slowDown(ending: TurnEnding & { readonly kind: "throttled" }, startedAt: number): boolean {
    const nowMs = clock.monotonic();
    spacing.holdUntil(nowMs + ending.pauseMs);
    // Answers to what was under way at the last cut add nothing new.
    if (startedAt <= pressure.cutAtMs) return false;
    pressure = ending.rate ? afterThrottled(pressure, nowMs) : afterPause(pressure, nowMs);
    return true;
  }

  function delayMs(nowMs: number): number {
    return Math.max(spacing.delayMs(nowMs), ceiling?.delayMs(nowMs) ?? 0);
  }

  function pump(): void {
    for (const waiter of queue) {
      if (running >= pressure.limit) return;
      const nowMs = clock.monotonic();
      const delay = delayMs(nowMs);
      if (delay > 0) {
        setAlarm(delay);
        return;
      }
      queue.delete(waiter);
      waiter.resolve(begin(nowMs));
    }
  }

  function setAlarm(ms: number): void {
    if (alarm !== null) return;
    const current = new AbortController();
    alarm = current;
    const ring = (): void => {
      if (alarm === current) alarm = null;
      pump();
    };
    clock.sleep(Math.ceil(ms), current.signal).then(ring, () => undefined);
  }

  /** With an empty queue, a timer that still ran would keep the process alive. */
  function clearAlarm(): void {
    alarm?.abort();
    alarm = null;
  }

  return {
    enter: async (signal) => {
      signal?.throwIfAborted();
      return await new Promise((resolve, reject) => {
        const stopWaiting = onAbort(signal, () => {
          queue.delete(waiter);
          if (queue.size === 0) clearAlarm();
          reject(signal?.reason as Error);
        });
        const waiter: Waiter = {
          resolve: (turn) => {
            stopWaiting();
            resolve(turn);
          },
        };
        queue.add(waiter);
        pump();
      });
    },
  };
}

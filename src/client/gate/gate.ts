import type { Clock } from "../../runtime/clock.ts";
import { onAbort } from "../../runtime/on-abort.ts";
import { afterAccepted, afterPause, afterThrottled, initialPressure, type Pressure } from "./pressure.ts";
import { createRateCeiling, createSpacing } from "./rate-ceiling.ts";

type Ending =
  | { readonly kind: "accepted" }
  | { readonly kind: "failed" }
  /** After a 429 or 503 (`rate`: 429), all workers wait for `pauseMs`. */
  | { readonly kind: "throttled"; readonly pauseMs: number; readonly rate: boolean };

/** Permission for one request. `end` must be called exactly once. */
export interface Permit {
  /** Returns whether this started a new pause. */
  end(ending: Ending): boolean;
}

interface GateOptions {
  readonly clock: Clock;
  readonly concurrency: number;
  /** Null leaves the rate to the server's 429s. */
  readonly ratePerSecond?: number | null;
}

type Waiter = (permit: Permit) => void;

/** All requests of a process go through the same gate, so one 429 slows them all. */
export class Gate {
  readonly #clock: Clock;
  readonly #ceiling: ReturnType<typeof createRateCeiling> | null;
  readonly #spacing = createSpacing();
  readonly #queue = new Set<Waiter>();
  #pressure: Pressure;
  #running = 0;
  #alarm: AbortController | null = null;

  constructor({ clock, concurrency, ratePerSecond = null }: GateOptions) {
    this.#clock = clock;
    this.#ceiling = ratePerSecond === null ? null : createRateCeiling(ratePerSecond);
    this.#pressure = initialPressure(concurrency, clock.monotonic());
  }

  /** Resolves in order of arrival. Rejects with the signal's reason. */
  async enter(signal?: AbortSignal): Promise<Permit> {
    signal?.throwIfAborted();
    return await new Promise((resolve, reject) => {
      const stopWaiting = onAbort(signal, () => {
        this.#queue.delete(waiter);
        if (this.#queue.size === 0) this.#clearAlarm();
        reject(signal?.reason as Error);
      });
      const waiter: Waiter = (permit) => {
        stopWaiting();
        resolve(permit);
      };
      this.#queue.add(waiter);
      this.#pump();
    });
  }

  #end(ending: Ending, startedAt: number): boolean {
    this.#running -= 1;
    const opened = ending.kind === "throttled" && this.#slowDown(ending, startedAt);
    if (ending.kind === "accepted") this.#pressure = afterAccepted(this.#pressure, startedAt);
    this.#pump();
    return opened;
  }

  #slowDown(ending: Ending & { readonly kind: "throttled" }, startedAt: number): boolean {
    const nowMs = this.#clock.monotonic();
    this.#spacing.holdUntil(nowMs + ending.pauseMs);
    // Requests that started before the last cut carry no new information.
    if (startedAt <= this.#pressure.cutAtMs) return false;
    this.#pressure = ending.rate ? afterThrottled(this.#pressure, nowMs) : afterPause(this.#pressure, nowMs);
    return true;
  }

  #pump(): void {
    for (const waiter of this.#queue) {
      if (this.#running >= this.#pressure.limit) return;
      const nowMs = this.#clock.monotonic();
      const delay = Math.max(this.#spacing.delayMs(nowMs), this.#ceiling?.delayMs(nowMs) ?? 0);
      if (delay > 0) {
        this.#setAlarm(delay);
        return;
      }
      this.#queue.delete(waiter);
      this.#running += 1;
      this.#ceiling?.started(nowMs);
      this.#spacing.started(nowMs, this.#pressure.perSecond);
      waiter({ end: (ending) => this.#end(ending, nowMs) });
    }
  }

  #setAlarm(ms: number): void {
    if (this.#alarm !== null) return;
    const current = new AbortController();
    this.#alarm = current;
    const ring = (): void => {
      if (this.#alarm === current) this.#alarm = null;
      this.#pump();
    };
    this.#clock.sleep(Math.ceil(ms), current.signal).then(ring, () => undefined);
  }

  /** Stops the timer, which would keep the process alive. */
  #clearAlarm(): void {
    this.#alarm?.abort();
    this.#alarm = null;
  }
}

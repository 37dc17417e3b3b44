import type { Clock } from "../../../runtime/clock.ts";
import { type WriteTime, writeTime } from "../../domain/write-time.ts";

export class DatabaseTime {
  readonly #clock: Clock;
  readonly #source: "database" | "clock";
  #aheadMs = 0;

  constructor(clock: Clock, source: "database" | "clock") {
    this.#clock = clock;
    this.#source = source;
  }

  ofWrite(databaseMs: number, newest: number): WriteTime {
    if (this.#source === "clock") return writeTime(this.#clock.now(), newest);
    this.set(databaseMs);
    return writeTime(databaseMs, newest);
  }

  /** Call it before the first read, because reads don't query the time. */
  set(databaseMs: number): void {
    if (this.#source === "database") this.#aheadMs = databaseMs - this.#clock.now();
  }

  ofRead(): WriteTime {
    return writeTime(this.#clock.now() + this.#aheadMs, 0);
  }
}

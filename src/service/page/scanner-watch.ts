import type { Clock } from "../../runtime/clock.ts";

const WINDOW_MS = 10_000;
const MANY = 3;
const ADDRESSES_MAX = 10_000;

/** A client that opens the surveys of several people within a short time is a mail scanner. */
export class ScannerWatch {
  readonly #clock: Clock;
  readonly #addresses = new Map<string, readonly { readonly token: string; readonly at: number }[]>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isScanning(address: string, token: string): boolean {
    const now = this.#clock.monotonic();
    const others = (this.#addresses.get(address) ?? []).filter(
      (one) => now - one.at < WINDOW_MS && one.token !== token,
    );
    const seen = [...others, { token, at: now }].slice(-MANY);
    // Moves the address to the end, so the first one is always the oldest.
    this.#addresses.delete(address);
    this.#addresses.set(address, seen);
    const [oldest] = this.#addresses.keys();
    if (this.#addresses.size > ADDRESSES_MAX && oldest !== undefined) this.#addresses.delete(oldest);
    return seen.length >= MANY;
  }
}

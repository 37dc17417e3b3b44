/** A client that opens surveys of several people within a short time is a mail scanner. */
import type { Clock } from "../../runtime/clock.ts";

export interface ScannerWatch {
  /** True if the address has opened many surveys within a short time. */
  readonly isScanning: (address: string, token: string) => boolean;
}

const WINDOW_MS = 10_000;
const MANY = 3;
const ADDRESSES_MAX = 10_000;

/** In memory only, and only as long as needed. */
export function createScannerWatch(clock: Clock): ScannerWatch {
  const addresses = new Map<string, { token: string; at: number }[]>();
  return {
    isScanning: (address, token) => {
      const now = clock.monotonic();
      const recent = (addresses.get(address) ?? []).filter(
        ({ at, token: other }) => now - at < WINDOW_MS && other !== token,
      );
      const seen = [...recent, { token, at: now }].slice(-MANY);
      // Moves the address to the end, so that the oldest is first.
      addresses.delete(address);
      addresses.set(address, seen);
      const [oldest] = addresses.keys();
      if (addresses.size > ADDRESSES_MAX && oldest !== undefined) addresses.delete(oldest);
      return seen.length >= MANY;
    },
  };
}

/** Clients that open the surveys of several people at once: a program that reads the mail of a whole company. */
import type { Clock } from "../../runtime/clock.ts";

export interface ScannerWatch {
  /** Notes that this address opened this survey; true when it has opened many within a short time. */
  readonly isScanning: (address: string, token: string) => boolean;
}

const WINDOW_MS = 10_000;
const MANY = 3;
const ADDRESSES_MAX = 10_000;

/** Kept in memory alone, and only as long as it is needed. */
export function createScannerWatch(clock: Clock): ScannerWatch {
  const addresses = new Map<string, { token: string; at: number }[]>();
  return {
    isScanning: (address, token) => {
      const now = clock.monotonic();
      const recent = (addresses.get(address) ?? []).filter(
        ({ at, token: other }) => now - at < WINDOW_MS && other !== token,
      );
      const seen = [...recent, { token, at: now }].slice(-MANY);
      // The address that was noted last comes last, so that the first is the one to forget.
      addresses.delete(address);
      addresses.set(address, seen);
      const [oldest] = addresses.keys();
      if (addresses.size > ADDRESSES_MAX && oldest !== undefined) addresses.delete(oldest);
      return seen.length >= MANY;
    },
  };
}

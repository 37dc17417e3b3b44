/** When a run over many rows or items stops: what went wrong concerns all of them, and not one. */
import {
  AuthError,
  ConnectionError,
  RateLimitedError,
  RedirectError,
  RefusedError,
  TimeoutError,
} from "../../../client/errors/call-errors.ts";
import { ClientError } from "../../../client/errors/client-error.ts";
import { NothingFoundError } from "../../errors/command-errors.ts";

/** No other item would fare better: a redirect is of an address that has moved. */
const OF_ALL_ITEMS = [AuthError, ConnectionError, TimeoutError, RateLimitedError, RedirectError];
/** Consecutive items that the service failed on before the run stops: it is the service, not the items. */
const FAILURES_IN_A_ROW = 20;

export interface StopRule {
  /** An item ended well, or with an answer that tells nothing. */
  ended(how: "well" | "unknown"): void;
  /** True for an error that ends the run: a refused key, a dead network, a service that fails again and again. */
  stopsAt(error: unknown): boolean;
}

export function createStopRule(): StopRule {
  let inARow = 0;
  return {
    ended: (how) => void (inARow = how === "well" ? 0 : inARow + 1),
    stopsAt(error) {
      if (error instanceof RefusedError || error instanceof NothingFoundError) {
        inARow = 0;
        return false;
      }
      if (isOfAllItems(error)) return true;
      inARow += 1;
      return inARow >= FAILURES_IN_A_ROW;
    },
  };
}

function isOfAllItems(error: unknown): boolean {
  return !(error instanceof ClientError) || OF_ALL_ITEMS.some((kind) => error instanceof kind);
}

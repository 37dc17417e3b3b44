/** Decides when a bulk run stops because the problem isn't the single row. */
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

/** They would fail every other item, too. */
const AFFECTING_ALL = [AuthError, ConnectionError, TimeoutError, RateLimitedError, RedirectError];
/** After so many failures in a row, the service is at fault. */
const FAILURES_IN_A_ROW = 20;

export interface StopRule {
  ended(how: "well" | "unknown"): void;
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
      if (affectsAll(error)) return true;
      inARow += 1;
      return inARow >= FAILURES_IN_A_ROW;
    },
  };
}

function affectsAll(error: unknown): boolean {
  return !(error instanceof ClientError) || AFFECTING_ALL.some((kind) => error instanceof kind);
}

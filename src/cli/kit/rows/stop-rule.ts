/** Stops a bulk run if a problem affects more than a single row. */
import {
  AuthError,
  ConnectionError,
  RateLimitedError,
  RedirectError,
  RefusedError,
  TimeoutError,
} from "../../../client/errors/call-errors.ts";
import { ClientError } from "../../../client/errors/client-error.ts";
import { KeptError, NothingFoundError } from "../../errors/command-errors.ts";

const AFFECTING_ALL = [AuthError, ConnectionError, TimeoutError, RateLimitedError, RedirectError];
/** After this many consecutive failures, the service is assumed to be at fault. */
const FAILURES_IN_A_ROW = 20;

export class StopRule {
  #inARow = 0;

  ended(how: "well" | "unknown"): void {
    this.#inARow = how === "well" ? 0 : this.#inARow + 1;
  }

  stopsAt(error: unknown): boolean {
    if (error instanceof RefusedError || error instanceof NothingFoundError || error instanceof KeptError) {
      this.#inARow = 0;
      return false;
    }
    if (!(error instanceof ClientError) || AFFECTING_ALL.some((kind) => error instanceof kind)) return true;
    this.#inARow += 1;
    return this.#inARow >= FAILURES_IN_A_ROW;
  }
}

import { EXIT, type ExitCode } from "../exit-codes.ts";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** A signal asked the command to stop; the reason that `Deps.signal` aborts with. Exit status 128 + the signal's number. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly signal: StopSignal;

  constructor(signal: StopSignal) {
    super(`stopped by ${signal}`);
    this.signal = signal;
  }
}

export function exitOfSignal(signal: StopSignal): ExitCode {
  return { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp }[signal];
}

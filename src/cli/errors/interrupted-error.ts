import { EXIT, type ExitCode } from "../exit-codes.ts";

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const SENTENCES: Readonly<Record<StopSignal, string>> = {
  SIGINT: "Interrupted.",
  SIGTERM: "Terminated.",
  SIGHUP: "Terminated: the terminal was closed.",
};

/** A signal asked the command to stop; the reason that `Deps.signal` aborts with. Exit status 128 + the signal's number. */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly signal: StopSignal;
  /** What may have been done nevertheless, and where to look. */
  readonly hint: string | null;

  constructor(signal: StopSignal, hint: string | null = null) {
    super(SENTENCES[signal]);
    this.signal = signal;
    this.hint = hint;
  }
}

export function exitOfSignal(signal: StopSignal): ExitCode {
  return { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated, SIGHUP: EXIT.hungUp }[signal];
}

import { EXIT, type ExitCode } from "../exit-codes.ts";
import { CommandError, type ErrorFacts } from "./usage-error.ts";

export class NothingFoundError extends CommandError {
  override readonly name = "NothingFoundError";

  constructor(message: string, hint: string | null = null) {
    super("not_found", message, EXIT.refused, { hint });
  }
}

/** The service declined to make a change and gave a reason. */
export class KeptError extends CommandError {
  override readonly name = "KeptError";

  constructor(message: string) {
    super("kept", message, EXIT.partial);
  }
}

export interface ItemFailure {
  readonly item: string;
  readonly error: unknown;
}

/**
 * Some of several changes failed; the rows on stdout show which. The exit status is that of the failure that stopped
 * the run, or of the most severe one.
 */
export class ChangesFailedError extends Error {
  override readonly name = "ChangesFailedError";
  readonly failures: readonly ItemFailure[];
  /** The failure that stopped the run; null if all items were tried. */
  readonly stop: unknown;

  constructor(failures: readonly ItemFailure[], all: number, stop: unknown) {
    super(`${failures.length} of ${all} changes failed`);
    this.failures = failures;
    this.stop = stop;
  }
}

export class AssertionError extends CommandError {
  override readonly name = "AssertionError";

  constructor(failures: readonly string[], message = `assertion failed: ${failures.join("; ")}`) {
    super("assertion_failed", message, EXIT.assertion, { details: [...failures] });
  }
}

export class DataFileError extends CommandError {
  override readonly name = "DataFileError";

  constructor(
    code: string,
    message: string,
    { exit = EXIT.failed, ...options }: ErrorFacts & { readonly exit?: ExitCode } = {},
  ) {
    super(code, message, exit, options);
  }
}

/**
 * Wraps an error that occurred after the first request was sent. Reports the cause, but always exits with status 1,
 * even for a usage error.
 */
export class BegunError extends Error {
  override readonly name = "BegunError";

  constructor(cause: unknown) {
    super("stopped on the way", { cause });
    if (cause instanceof Error) this.stack = cause.stack ?? "";
  }
}

/** `--query` failed after the command had finished its work. */
export class FilterError extends CommandError {
  override readonly name = "FilterError";

  constructor(reason: string, cause?: unknown) {
    const hint = "the output is printed in full";
    super("not_filtered", `the command was carried out, but --query: ${reason}`, EXIT.failed, { hint, cause });
  }
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Exit statuses are 128 plus the signal's number. */
const STOPS = {
  SIGINT: { sentence: "Interrupted.", exit: EXIT.interrupted },
  SIGTERM: { sentence: "Terminated.", exit: EXIT.terminated },
  SIGHUP: { sentence: "Terminated: the terminal was closed.", exit: EXIT.hungUp },
} as const;

/** The abort reason of `Deps.signal` after a signal such as SIGINT. */
export class InterruptedError extends CommandError {
  override readonly name = "InterruptedError";
  readonly signal: StopSignal;

  constructor(signal: StopSignal, hint: string | null = null) {
    super("interrupted", STOPS[signal].sentence, STOPS[signal].exit, { hint });
    this.signal = signal;
  }
}

/** The abort reason of `Deps.signal` after an uncaught error. */
export class CrashError extends Error {
  override readonly name = "CrashError";

  constructor(cause: unknown) {
    super("uncaught error", { cause });
  }
}

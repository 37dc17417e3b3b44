/** Ends of a command besides a wrong command line; one class for each kind of reaction. */
import { EXIT, type ExitCode } from "../exit-codes.ts";

/**
 * The object that a command was asked to show or work on is not there, although the service answered well. Exit status
 * 5.
 */
export class NothingFoundError extends Error {
  override readonly name = "NothingFoundError";
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.hint = hint;
  }
}

/** An item that could not be changed, as messages call it, and why. */
export interface ItemFailure {
  readonly item: string;
  readonly error: unknown;
}

/**
 * Of several changes some failed; the rows are on stdout. The exit status is that of the failure that stopped the run,
 * else the gravest of them.
 */
export class ChangesFailedError extends Error {
  override readonly name = "ChangesFailedError";
  readonly failures: readonly ItemFailure[];
  /** One of the failures, which no further item was tried after; null where all were. */
  readonly stop: unknown;

  constructor(failures: readonly ItemFailure[], all: number, stop: unknown) {
    super(`${failures.length} of ${all} changes failed`);
    this.failures = failures;
    this.stop = stop;
  }
}

/** One or more things that were asserted did not hold. Exit status 6. */
export class AssertionError extends Error {
  override readonly name = "AssertionError";
  readonly failures: readonly string[];

  constructor(failures: readonly string[], message = `assertion failed: ${failures.join("; ")}`) {
    super(message);
    this.failures = failures;
  }
}

/** A data file, or its service, cannot do what was asked: it is in use, or not a data file, or has no such thing. */
export class DataFileError extends Error {
  override readonly name = "DataFileError";
  readonly code: string;
  readonly hint: string | null;
  readonly exit: ExitCode;

  constructor(
    code: string,
    message: string,
    options: { readonly hint?: string; readonly exit?: ExitCode; readonly cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
    this.exit = options.exit ?? EXIT.failed;
  }
}

/** An import could not go on, through no fault of its rows or of the service. Exit status 1. */
export class ImportStoppedError extends Error {
  override readonly name = "ImportStoppedError";
  /** As in the error JSON: `input_changed`, `rows_missing`, `suppression_unknown`. */
  readonly code: string;
  readonly hint: string | null;

  constructor(code: string, message: string, options: { readonly hint?: string; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.hint = options.hint ?? null;
  }
}

/**
 * An error of a file behind the first request: no matter of usage any more, so the exit status is 1. Its cause is
 * reported.
 */
export class BegunError extends Error {
  override readonly name = "BegunError";

  constructor(cause: unknown) {
    super("stopped on the way", { cause });
  }
}

/**
 * An export has fewer rows than the service counts, and the file that it would replace may be better. Exit status 1.
 */
export class ShortExportError extends Error {
  override readonly name = "ShortExportError";
}

/** `--query` could make nothing of what a command printed, whose work was done by then. Exit status 1. */
export class FilterError extends Error {
  override readonly name = "FilterError";

  constructor(reason: string, cause?: unknown) {
    super(`the command was carried out, but --query: ${reason}`, { cause });
  }
}

export type StopSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

const SENTENCES: Readonly<Record<StopSignal, string>> = {
  SIGINT: "Interrupted.",
  SIGTERM: "Terminated.",
  SIGHUP: "Terminated: the terminal was closed.",
};

/**
 * A signal asked the command to stop; the reason that `Deps.signal` aborts with. Exit status 128 + the signal's number.
 */
export class InterruptedError extends Error {
  override readonly name = "InterruptedError";
  readonly signal: StopSignal;
  /** The changes that may have been made nevertheless, and where to look. */
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

/** An uncaught error from anywhere; the reason that `Deps.signal` aborts with. Its cause is what is reported. */
export class CrashError extends Error {
  override readonly name = "CrashError";

  constructor(cause: unknown) {
    super("uncaught error", { cause });
  }
}
